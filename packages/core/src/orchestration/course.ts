import type { Orchestration, OrchestrationKind, PendingOrchestration } from '@valkey-operator/api';
import type { Decision, PlanView } from '../decision.ts';
import { isOwnDoing } from './in-hand.ts';
import { type Begun, describeProgress, isChange, recallBegun } from './progress.ts';

/** What is done now, under which name, and what comes after it. */
export interface Course {
  readonly decision: Decision | undefined;
  readonly orchestration?: Orchestration;
  readonly pending: readonly PendingOrchestration[];
  /** Has begun with this look. */
  readonly isNew: boolean;
  /** Had begun, and has nothing left to do. */
  readonly ended: readonly Begun[];
}

/**
 * Repairs pre-empt, changes queue: the one that has begun goes on while its planner has something to do, else the first. A
 * change that a repair has interrupted keeps its id at the head of the queue. All is derived from what is observed now; the
 * memory is only for names.
 */
export function chooseCourse(view: PlanView, repair: Decision | undefined, changes: readonly Decision[]): Course {
  const begun = recallBegun(view);
  const change = begun.find(({ kind }) => isChange(kind));
  const queue = inOrder(changes, change?.kind);
  const decision = (isWait(repair) ? queue.find(({ unblocks }) => unblocks) : undefined) ?? repair ?? queue[0];
  if (!decision) return { decision, pending: [], isNew: false, ended: begun };

  const kind = decision === repair ? nameRepair(view, repair, change) : kindOf(decision);
  const before = begun.find((each) => each.kind === kind);
  const step = queue.find((each) => kindOf(each) === kind)?.step;
  const orchestration = describeProgress(view, { kind, decision, before, step });
  const interrupted = decision === repair && change && change.kind !== kind ? [change] : [];
  const pending = [
    ...interrupted.map(interrupt),
    ...queue
      .filter((each) => kindOf(each) !== kind && !interrupted.some((other) => other.kind === kindOf(each)))
      .map((each) => ({ kind: kindOf(each), message: each.message.slice(0, 1024) })),
  ];
  const isKept = ({ id }: Begun) =>
    id === orchestration.id || pending.some((entry) => 'id' in entry && entry.id === id);
  return {
    decision,
    orchestration,
    pending,
    isNew: before === undefined,
    ended: begun.filter((each) => !isKept(each)),
  };
}

/** One of each kind, the running one first; what waits for a person lets the others pass. */
function inOrder(changes: readonly Decision[], running: OrchestrationKind | undefined): Decision[] {
  const kinds = new Set([...(running ? [running] : []), ...changes.map(kindOf)]);
  const ordered = [...kinds].flatMap((kind) => changes.find((each) => kindOf(each) === kind) ?? []);
  return [...ordered.filter(({ held }) => !held), ...ordered.filter(({ held }) => held)];
}

function kindOf({ kind = 'Heal' }: Decision): OrchestrationKind {
  return kind;
}

function isWait(decision: Decision | undefined): boolean {
  return decision !== undefined && (decision.stages ?? []).length === 0;
}

/** What is broken by a change belongs to the change: a pod that it replaces, and that is not back yet, is no fault. */
function nameRepair(view: PlanView, repair: Decision, change: Begun | undefined): OrchestrationKind {
  const { creating, scaling } = view.topology;
  if (repair.kind) return repair.kind;
  if (creating) return 'Create';
  if (change) return isOwnDoing(view, change.pods) ? change.kind : 'Heal';
  return scaling ? 'ScaleReplicas' : 'Heal';
}

function interrupt({ id, kind, startedAt, pods }: Begun): PendingOrchestration {
  const message = 'A repair has interrupted it; it goes on afterwards.';
  return { id, kind, startedAt, message, ...(pods && { pods }) };
}
