import type { OrchestrationKind } from '@valkey-operator/api';
import { SLOT_COUNT, SlotSet } from '@valkey-operator/valkey';
import { type Decision, order, type PlanView, stagesOf, type Step } from '../decision.ts';
import { isChange, recallBegun } from '../orchestration/begun.ts';
import { findWithdrawn } from '../orchestration/withdrawal.ts';
import { refuseLeaving } from '../replicas-for-writes.ts';
import { isShortOfRoom } from '../roll/less-memory.ts';
import { isDoomed } from '../shard-roles.ts';
import { listNames } from '../status/list-names.ts';
import { hasKeys, isInSync, type Member } from '../topology.ts';
import { planAnnouncements } from './announcements.ts';
import { refuseOverflow } from './capacity.ts';
import { acquaint } from './introduce.ts';
import { completeCrews, handOverDoomed, shrink } from './scale-crews.ts';
import { planMoves } from './slot-moves.ts';
import { GROW_MS, growNewVolumes, makesSmallVolumes } from './volumes.ts';

/** As long as it is not done it is tried, and each time that this long has passed is counted: nobody is served worse meanwhile. */
function counted(minutes: number) {
  return { timeoutMs: minutes * 60_000, onTimeout: 'retry' } as const;
}

/**
 * What is done, in this order. Each is looked at anew every time, so whatever was undone meanwhile is done again. Pods that do
 * not start are for a person to look at, and volumes that do not grow. Slots take as long as their keys do; what keeps them
 * from moving is told by planMoves.
 */
const STEPS = [
  { name: 'Start pods', isPartOf: addsPods, plan: awaitPods, limit: { timeoutMs: 10 * 60_000 } },
  { name: 'Grow volumes', isPartOf: growsVolumes, plan: growNewVolumes, limit: { timeoutMs: GROW_MS } },
  { name: 'Form shards', isPartOf: isOut, plan: formShards, limit: counted(10) },
  { name: 'Announce addresses', isPartOf: opensDoors, plan: planAnnouncements, limit: counted(10) },
  { name: 'Hand over primaries', isPartOf: hasDoomed, plan: handOverDoomed, limit: counted(10) },
  { name: 'Move slots', isPartOf: movesSlots, plan: moveSlots, limit: counted(60) },
  { name: 'Complete shards', isPartOf: hasDoomed, plan: completeCrews, limit: counted(60) },
  { name: 'Remove pods', isPartOf: hasDoomed, plan: shrink, limit: counted(10) },
] as const;

/**
 * What adds pods begins with that, and before it nothing of it counts. It goes before other changes: these may need it, such as
 * writes that shall wait for more replicas, or a roll of shards that have none. It may be the answer to what a repair waits for.
 */
export function planGrowth(view: PlanView): Decision | undefined {
  const { growth, observedPods = 0 } = view.topology;
  if (!growth) return undefined;
  const { kind, wantedPods: pods } = growth;
  const [{ name, limit }] = STEPS;
  const parts = STEPS.filter(({ isPartOf }) => isPartOf(kind, view));
  return {
    kind,
    reason: 'OrchestrationStarted',
    message: `The pods grow from ${observedPods} to ${pods}.`,
    pods,
    unblocks: !recallBegun(view.snapshot).some((each) => isChange(each.kind)),
    step: { ...numberStep(name, parts), ...limit },
  };
}

/**
 * More or fewer shards, more or fewer replicas, or both at once (C2, C3). Kubernetes adds and removes the highest ordinals,
 * whatever they are: new pods get their roles when all are there, and pods that go are nobody any more before they do. Slots
 * that lie unevenly for another reason are evened out by the way.
 */
export function planScale(view: PlanView): Decision | undefined {
  const { scaling, observedPods = 0, wantedPods } = view.topology;
  const kind = scaling ?? (observedPods > wantedPods ? 'ScaleReplicas' : 'Heal');
  const refusal = refuseOverflow(view) ?? refuseWriteStop(view);
  const next: Decision | undefined = refusal ? { ...refusal, kind } : findStep(view, kind);
  // The size that is wanted is then the one before.
  return next && findWithdrawn(view.snapshot).has(kind) ? { ...next, undo: next } : next;
}

function findStep(view: PlanView, kind: OrchestrationKind): Decision | undefined {
  const parts = STEPS.filter(({ isPartOf }) => isPartOf(kind, view));
  for (const { name, plan, limit } of STEPS) {
    const decision = plan(view);
    if (decision) return { ...decision, kind, step: { ...numberStep(name, parts), ...limit } };
  }
  return undefined;
}

/** Where settings that need fewer replicas are on their way, they come first. */
function refuseWriteStop(view: PlanView): Decision | undefined {
  const { shards, replicasPerShard } = view.topology;
  const message = shards.some(({ replicas }) => replicas.length > replicasPerShard) ? refuseLeaving(view) : undefined;
  return message === undefined ? undefined : { reason: 'InvalidSpec', message, held: true };
}

function numberStep(name: string, parts: readonly { readonly name: string }[]): Step {
  const index = parts.findIndex((part) => part.name === name);
  return { name, number: Math.max(1, index + 1), of: Math.max(1, parts.length) };
}

/**
 * Before pods go, those who got their slots have to have told so themselves. Who gave them says it first, but will soon say
 * nothing any more, and slots of which nobody tells are missed.
 */
function moveSlots(view: PlanView): Decision | undefined {
  const { observedPods = 0, wantedPods, shards } = view.topology;
  const moves = planMoves(view);
  if (moves || observedPods <= wantedPods) return moves;
  const told = shards.reduce((all, { primary }) => all.union(primary.slots), SlotSet.empty);
  if (told.count === SLOT_COUNT) return undefined;
  return { reason: 'SlotsMoving', message: 'All slots have moved; waiting until those who got them have told so.' };
}

function movesSlots(kind: OrchestrationKind): boolean {
  return kind !== 'ScaleReplicas';
}

function isOut(kind: OrchestrationKind): boolean {
  return kind === 'ScaleOut';
}

function growsVolumes(kind: OrchestrationKind, view: PlanView): boolean {
  return isOut(kind) && makesSmallVolumes(view);
}

function addsPods(kind: OrchestrationKind, { topology: { observedPods = 0, wantedPods } }: PlanView): boolean {
  return isOut(kind) || (kind === 'ScaleReplicas' && observedPods <= wantedPods);
}

function opensDoors(kind: OrchestrationKind, { snapshot }: PlanView): boolean {
  return isOut(kind) && snapshot.spec.services.external.enabled;
}

function hasDoomed(kind: OrchestrationKind, view: PlanView): boolean {
  const { topology } = view;
  return !addsPods(kind, view) || topology.members.some((member) => isDoomed(member, topology));
}

/** With all of them known, roles can be given so that shards are spread over nodes and zones. */
function awaitPods(view: PlanView): Decision | undefined {
  const { scaling, missing, wantedShards, shards, members, wantedPods } = view.topology;
  const isAwaited = shards.length < wantedShards || (scaling === 'ScaleReplicas' && addsPods(scaling, view));
  if (missing.length === 0 || !isAwaited) return undefined;
  const message = `${members.length} of ${wantedPods} nodes have started; waiting for ${listNames(missing.map(({ name }) => name))}.`;
  return { reason: 'WaitingForPods', message, yields: isShortOfRoom(view) };
}

/**
 * Primaries without slots, each with its replicas in sync: from the first slot on nothing depends on one node. Meanwhile they
 * meet all who will give them slots: a source that has not heard of its target could not begin, and gossip takes a second.
 */
function formShards(view: PlanView): Decision | undefined {
  const { newborn, shards, wantedShards, replicasPerShard } = view.topology;
  const lacking = wantedShards - shards.length - newborn.length;
  if (lacking > 0) return freeReplicas(view, lacking);
  const crews = newborn.flatMap(({ primary, replicas }) => [primary, ...replicas]);
  const meetings = shards.flatMap(({ primary }) => acquaint(primary, crews));
  const waiting = newborn.filter(({ replicas }) => replicas.filter(isInSync).length < replicasPerShard);
  if (waiting.length + meetings.length === 0) return undefined;
  const names = listNames((waiting.length > 0 ? waiting : newborn).map(({ primary }) => primary.pod.name));
  const lacks = waiting.length > 0 ? 'gets its replicas' : 'meets the other primaries';
  return { reason: 'WaitingForSync', message: `${names} ${lacks} before it gets slots.`, stages: stagesOf(meetings) };
}

/**
 * More shards with fewer replicas each: replicas that are too many become primaries. Those that have all data stay, and until
 * they are enough nobody leaves.
 */
function freeReplicas({ topology }: PlanView, count: number): Decision {
  const isUsable = (replica: Member) => !isDoomed(replica, topology) && !replica.pod.deletionTimestamp;
  const crews = topology.shards.map(({ replicas }) =>
    replicas
      .filter(isUsable)
      .toSorted((a, b) => Number(isInSync(b)) - Number(isInSync(a)) || a.pod.ordinal - b.pod.ordinal),
  );
  const spare = crews.flatMap((crew) =>
    crew.slice(0, topology.replicasPerShard).every(isInSync) ? crew.slice(topology.replicasPerShard) : [],
  );
  const strays = topology.strays.filter((stray) => isUsable(stray) && !hasKeys(stray));
  const freed = [...strays, ...spare].slice(0, count);
  const names = listNames(freed.map(({ pod }) => pod.name));
  if (freed.length === 0) {
    const message =
      'Waiting for nodes that can become the primaries of new shards; replicas leave theirs when those that stay are in sync.';
    return { reason: 'WaitingForPods', message };
  }
  const reset = (replica: Member) =>
    order(replica, { do: 'reset', hard: false }, 'OrchestrationStarted', {
      role: 'replica',
      primaryId: replica.cluster.primaryId ?? '',
    });
  return {
    reason: 'OrchestrationStarted',
    message: `${names} is a replica more than wanted and leaves its shard for a new one.`,
    stages: [freed.map(reset)],
  };
}
