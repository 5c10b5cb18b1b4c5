import type { Action } from '../actions.ts';
import { childNames } from '../builders/names.ts';
import type { Decision, PlanView } from '../decision.ts';
import type { PodView } from '../snapshot.ts';
import { isServing } from '../status/health.ts';
import { listNames } from '../status/list-names.ts';
import { isOwner } from '../topology.ts';
import type { Begun } from './begun.ts';

/**
 * The pods that a change has in hand: those that it takes out of service, empties or adds by this decision, those of the same
 * step, for what was done to them may show late, and those of earlier ones that are not well yet. What is wrong with them is its
 * own doing; what is wrong with others is a fault.
 */
export function findPodsInHand(
  view: PlanView,
  decision: Decision,
  before: readonly string[] = [],
  isSameStep = false,
): string[] {
  const unwell = findUnwell(view);
  for (const { name } of findLeaving(view)) unwell.add(name);
  const touched = [...findTouched(view, decision), ...findEmptied(view), ...findNewcomers(view, decision)];
  const names = new Set([...before.filter((pod) => isSameStep || unwell.has(pod)), ...touched]);
  return [...names].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

/** Whether everything that is wrong is the work of the change that has these pods in hand. */
export function isOwnDoing(view: PlanView, inHand: readonly string[] = []): boolean {
  // An operator that has just started has heard of nobody yet, and the kubelet knows better.
  const unheard = view.snapshot.pods.filter(({ ready, report }) => ready && !report).map(({ name }) => name);
  return [...findUnwell(view)].every((pod) => inHand.includes(pod) || unheard.includes(pod));
}

/** Whether a decision takes no pod out of service but those. */
export function isWithin(view: PlanView, decision: Decision, inHand: readonly string[] = []): boolean {
  return findTouched(view, decision).every((pod) => inHand.includes(pod));
}

/** A change that has taken pods away is over when they have gone and are forgotten, not when they are told to go. */
export function awaitLeaving(view: PlanView, running: Begun | undefined): Decision | undefined {
  const names = findLeaving(view).flatMap(({ name }) => (running?.pods?.includes(name) ? [name] : []));
  if (!running || names.length === 0) return undefined;
  const { kind, step: number, stepsTotal: of = 1, stepName: name = kind } = running;
  const step = number === undefined ? undefined : { name, number, of };
  const message = `Waiting until ${listNames(names)} ${names.length === 1 ? 'has' : 'have'} gone.`;
  const committed = 'Pods that have been told to go cannot be called back.';
  return { kind, reason: 'WaitingForPods', message, committed, ...(step && { step }) };
}

/** Pods that the StatefulSet has no place for any more. */
function findLeaving({ snapshot, topology: { observedPods = Infinity } }: PlanView): readonly PodView[] {
  return snapshot.pods.filter(({ ordinal }) => ordinal >= observedPods);
}

/** Pods that are missing, or do not serve in a shard as they should. */
function findUnwell({ topology }: PlanView): Set<string> {
  const { missing, shards, strays, orphans, silent } = topology;
  const idle = shards.flatMap(({ primary, replicas }) => [
    ...(primary.report.ready ? [] : [primary]),
    ...replicas.filter((replica) => !isServing(replica)),
  ]);
  return new Set([
    ...missing.map(({ name }) => name),
    ...[...strays, ...orphans, ...idle].map(({ pod }) => pod.name),
    ...silent.filter(isOwner).flatMap(({ podName }) => podName ?? []),
  ]);
}

function findTouched(view: PlanView, { stages = [], pods: kept = Infinity }: Decision): string[] {
  const leaving = view.snapshot.pods.filter(({ ordinal }) => ordinal >= kept);
  return [...leaving.map(({ name }) => name), ...stages.flat().flatMap((action) => touchedBy(view, action))];
}

/** Who loses its primary is out of sync for a moment too. */
function touchedBy(view: PlanView, action: Action): string[] {
  const replaces = action.type === 'DeletePod';
  const moves =
    action.type === 'CommandNode' && (action.command.do === 'failover' || action.command.do === 'replicate');
  if (!replaces && !moves) return [];
  const shard = view.topology.shards.find(({ primary, replicas }) =>
    [primary, ...replicas].some(({ pod }) => pod.name === action.pod),
  );
  const isCrewAffected = shard && (replaces ? shard.primary.pod.name === action.pod : action.command.do === 'failover');
  if (!isCrewAffected) return [action.pod];
  return [shard.primary, ...shard.replicas].map(({ pod }) => pod.name);
}

/** Whoever has given all its slots away leads nobody, and those who followed it follow nobody. */
function findEmptied({ topology }: PlanView): string[] {
  return topology.leaving.flatMap(({ primary, replicas }) => [primary, ...replicas].map(({ pod }) => pod.name));
}

/** Pods that are wanted now and that the StatefulSet does not have yet. */
function findNewcomers({ snapshot, topology }: PlanView, { pods = topology.wantedPods }: Decision): string[] {
  const { observedPods = pods } = topology;
  const { pod } = childNames(snapshot.cluster.metadata.name);
  return Array.from({ length: Math.max(0, pods - observedPods) }, (_, index) => pod(observedPods + index));
}
