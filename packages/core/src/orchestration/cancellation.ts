import { annotations, type Cancelled, type OrchestrationKind } from '@valkey-operator/api';
import type { Decision } from '../decision.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { readRestartAt, restartAtOf } from '../roll/restart-at.ts';
import { upgradedImage } from '../upgrade/upgraded-image.ts';
import type { Begun } from './begun.ts';

/** Of the change that it may be about: the one that has begun, or the next. */
export type Target = Pick<Begun, 'kind'> & Partial<Pick<Begun, 'id'>>;

/**
 * The changes that must not go on, the last one first: asked for by the annotation now, or remembered. An annotation is one
 * request for as long as it stays as it is: it does not stop the next change too. `targets`: what it may be about, in order.
 */
export function readCancellations(snapshot: ClusterSnapshot, targets: readonly Target[]): readonly Cancelled[] {
  const request = snapshot.cluster.metadata.annotations?.[annotations.cancel];
  const remembered = recallCancellations(snapshot)
    .map(({ request: heeded, ...each }) => (heeded && heeded === request ? { ...each, request } : each))
    .filter((each: Cancelled) => each.request !== undefined || isInForce(snapshot, each));
  if (remembered.some((each: Cancelled) => each.request !== undefined)) return remembered;
  const isStopped = (kind: OrchestrationKind) =>
    remembered.some((each) => each.kind === kind && isInForce(snapshot, each));
  const target = targets.find(({ kind, id }) => !isStopped(kind) && (request === 'true' || (id && request === id)));
  return target ? addCancellation(remembered, cancel(snapshot, target, 'Requested', request)) : remembered;
}

export function recallCancellations({ cluster }: ClusterSnapshot): readonly Cancelled[] {
  const { cancelled, cancelledBefore = [] } = cluster.status ?? {};
  return cancelled ? [cancelled, ...cancelledBefore] : [];
}

export function addCancellation(others: readonly Cancelled[], last: Cancelled): readonly Cancelled[] {
  return [last, ...others.filter(({ kind }) => kind !== last.kind)];
}

export function cancel(
  snapshot: ClusterSnapshot,
  { kind, id }: Target,
  why: Cancelled['why'],
  request?: string,
): Cancelled {
  const { restartAt, upgrade } = readWishes(snapshot);
  return {
    kind,
    generation: snapshot.cluster.metadata.generation,
    why,
    ...(id && { id }),
    ...(request && { request }),
    ...(restartAt && { restartAt }),
    ...(upgrade && { upgrade }),
  };
}

/**
 * Until somebody wishes for something else: another spec, another restart, or another upgrade. To wish less is no wish, but
 * without its annotation there is no restart left that could be begun again.
 */
export function isInForce(snapshot: ClusterSnapshot, cancelled: Cancelled): boolean {
  const { restartAt, upgrade = cancelled.upgrade } = readWishes(snapshot);
  const isSameSpec = cancelled.generation === snapshot.cluster.metadata.generation;
  const isSameRestart = cancelled.restartAt === restartAt || (cancelled.kind !== 'Restart' && restartAt === undefined);
  return isSameSpec && isSameRestart && cancelled.upgrade === upgrade;
}

/** What asks for changes beside the spec. */
function readWishes(snapshot: ClusterSnapshot) {
  const { uid, by } = upgradedImage(snapshot) ?? {};
  return {
    restartAt: readRestartAt(snapshot.cluster) === undefined ? undefined : restartAtOf(snapshot.cluster),
    // One that is made anew under its name is another wish.
    upgrade: uid || by || undefined,
  };
}

/** Whatever has become of the annotation since. */
export function isSameCancellation(one: Cancelled, other: Cancelled): boolean {
  const fields = ['kind', 'id', 'generation', 'why', 'restartAt', 'upgrade'] as const;
  return fields.every((field) => one[field] === other[field]);
}

/** What is left to do of a change that was cancelled: what cannot stop here, then the way back, then nothing. */
export function wind(decision: Decision): Decision | undefined {
  const { kind, committed, undo, message } = decision;
  if (committed)
    return { ...decision, message: `Cancelled; what has begun is finished first: ${committed} ${message}` };
  return undo && { ...undo, ...(kind && { kind }), message: `Cancelled, and taken back: ${undo.message}` };
}

/** What becomes of the part that was done already. */
const remains: Partial<Record<OrchestrationKind, string>> = {
  Upgrade: 'Pods that were replaced go back to what they were made of.',
  Reconfigure:
    'Nodes and pods that were changed go back to what they had; a setting that every node has accepted is kept, also if it only counts from the next start of each.',
  Restart: 'A restart cannot be undone: pods that were restarted stay so, the others are left alone.',
  ScaleOut: 'Pods that were added are removed again, unless a shard of them has slots already: then that stays.',
  ScaleIn: 'A shard that is not empty yet gets its slots back; pods that were told to go do.',
  ScaleReplicas:
    'Pods that were added become replicas and those that were told to go do; set spec.replicasPerMaster back to undo that.',
  GrowVolumes: 'A volume cannot be made smaller: those that were asked to grow do.',
};

export function explainCancellation({ kind, why, generation }: Cancelled): string {
  const cause =
    why === 'Failed'
      ? `${kind} was given up because a step of it took too long.`
      : `${kind} was cancelled (annotation ${annotations.cancel}).`;
  const rest = remains[kind] ?? 'What it had done and could not take back stays.';
  return `${cause} ${rest} It is not begun again for generation ${generation} of the spec: set the spec to what you want, or change it in any way to begin anew.`;
}
