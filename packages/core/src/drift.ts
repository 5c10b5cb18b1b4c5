import { createHash } from 'node:crypto';
import { annotations } from '@valkey-operator/api';
import type { Action } from './actions.ts';
import { describeDifference, findDifferences } from './differences.ts';
import type { ChildObject, ClusterSnapshot, RefusalView, RepairView } from './snapshot.ts';

/** A change of something managed that the operator has not made (C6). */
export interface Drift {
  readonly message: string;
  /** How long it is left as it is, where somebody keeps changing it. */
  readonly heldMs?: number;
}

export interface ChildUpkeep {
  readonly apply?: Extract<Action, { type: 'ApplyChild' }>;
  readonly drift?: Drift;
  /** The API server did not take it as it is wished. When it is tried again, that must hold up nothing else. */
  readonly refused?: Refused;
}

export interface Refused {
  readonly child: string;
  /** The words of the API server. */
  readonly message: string;
  readonly retryInMs: number;
}

/** So often a change is put back at once; whoever changes it again after that is a controller, not a person. */
const PATIENCE = 3;
const FIRST_HOLD_MS = 10_000;
const LONGEST_HOLD_MS = 300_000;
/** What the API server refuses now it may take later, when a quota was raised or a port became free. */
export const RETRY_MS = 30_000;

/**
 * Whether a child has to be written, and why. Each carries a digest of what was wished when it was written: if the wish has
 * changed since, the difference is our own; if not, somebody else has made it.
 */
export function compareChild(wish: ChildObject, snapshot: ClusterSnapshot): ChildUpkeep {
  const wanted = sign(wish);
  const upkeep = compareSigned(wanted, snapshot);
  const refusal = upkeep.apply && snapshot.refusals?.find((each) => isAbout(each, wanted));
  if (!refusal) return upkeep;
  const { child, message, lastAt } = refusal;
  const retryInMs = Math.max(0, lastAt + RETRY_MS - snapshot.now);
  const { apply, drift } = upkeep;
  return {
    refused: { child, message, retryInMs },
    ...(drift && { drift }),
    ...(apply && retryInMs === 0 && { apply }),
  };
}

function isAbout({ child, wish }: RefusalView, { kind, metadata }: ChildObject): boolean {
  return child === `${kind} ${metadata.name}` && wish === metadata.annotations?.[annotations.applied];
}

function compareSigned(wanted: ChildObject, snapshot: ClusterSnapshot): ChildUpkeep {
  const observed = snapshot.children.find(
    ({ kind, metadata }) => kind === wanted.kind && metadata.name === wanted.metadata.name,
  );
  if (!observed) return { apply: { type: 'ApplyChild', object: wanted } };
  const differences = findDifferences(wanted, observed);
  if (differences.length === 0) return {};
  const [before, now] = [observed, wanted].map(({ metadata }) => metadata.annotations?.[annotations.applied]);
  if (before !== undefined && before !== now) return { apply: { type: 'ApplyChild', object: wanted } };
  const child = `${wanted.kind} ${wanted.metadata.name}`;
  const diff = differences.map(describeDifference).join(', ');
  const repair = snapshot.repairs?.find((each) => each.child === child);
  const heldMs = repair ? remainingHold(repair, snapshot.now) : 0;
  if (repair && heldMs > 0) {
    const message = `${child}: ${diff}. It was put back ${repair.count} times, and somebody changes it again: take it out of the hands of that controller`;
    return { drift: { message, heldMs } };
  }
  const message = `${child}: ${diff}`;
  return { apply: { type: 'ApplyChild', object: wanted, drift: diff }, drift: { message } };
}

/** Twice as long each time, so that two who disagree do not wear out the API server. */
function remainingHold({ count, lastAt }: RepairView, now: number): number {
  if (count < PATIENCE) return 0;
  const hold = Math.min(LONGEST_HOLD_MS, FIRST_HOLD_MS * 2 ** (count - PATIENCE));
  return Math.max(0, lastAt + hold - now);
}

/** Claim templates are left out: they cannot be changed, and are wished as the server has them. */
function sign(object: ChildObject): ChildObject {
  const text = JSON.stringify(object, (key, value: unknown) => (key === 'volumeClaimTemplates' ? undefined : value));
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const { metadata } = object;
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [annotations.applied]: digest } },
  };
}
