import { expectedPods } from '../expectation.ts';
import { annotations, type EffectiveClusterSpec } from '@valkey-operator/api';
import { parseMemorySize, SlotSet } from '@valkey-operator/valkey';
import type { Action, NodeAction, Plan } from '../actions.ts';
import type { buildPodTemplate } from '../builders/pod-template.ts';
import { memoryLimit } from '../builders/settings.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import type { Identity, SimulatedNode } from '../simulation/simulated-node.ts';
import { isRunning, type SimulatedPod } from '../simulation/simulated-pod.ts';

/** Where a plan would do harm in the cluster as it really is, which the planner can only know in part. */
export function findViolations(cluster: SimulatedCluster, { stages }: Plan): string[] {
  const actions = stages.flat();
  const commands = actions.filter((action) => action.type === 'CommandNode');
  const disruptions = commands.filter((action) => isDisruption(cluster, action)).length;
  return [
    ...commands.flatMap((action) => findHarm(cluster, action)),
    ...(disruptions > 1 ? [`${disruptions} disruptions at once`] : []),
    ...findLoss(cluster, actions),
    ...findContraryMoves(cluster, commands),
    ...actions.flatMap((action) => findSqueeze(cluster, action)),
    ...actions.flatMap((action) => {
      if (action.type !== 'ApplyChild' || action.object.kind !== 'StatefulSet') return [];
      const { replicas } = action.object['spec'] as { replicas: number };
      return findHarmOfShrink(cluster, replicas);
    }),
  ];
}

/** Who goes may have the only copy of what a pod has that stays and does not say so. */
function findHarmOfShrink({ pods, primaries, podCount }: SimulatedCluster, kept: number): string[] {
  const heard = pods.filter((pod) => pod.ordinal < kept && pod.heard && isRunning(pod));
  return [
    ...primaries.filter(({ ordinal }) => ordinal >= kept).map(({ name }) => `${name} is primary and would go`),
    ...(kept < podCount && heard.length < kept ? [`pods would go with ${heard.length} of ${kept} others heard`] : []),
  ];
}

/** Pods that serve are let go one at a time, only when all others serve, and never as primaries that have a replica. */
function findLoss(cluster: SimulatedCluster, actions: readonly Action[]): string[] {
  const going = new Set(actions.flatMap((action) => (action.type === 'DeletePod' ? [action.uid] : [])));
  const serving = cluster.pods.filter(isRunning).filter(({ node }) => !node.slots.isEmpty || node.linkUp);
  const lost = serving.filter(({ uid }) => going.has(uid));
  const followed = lost.filter(({ node }) => cluster.nodes.some(({ primaryId }) => primaryId === node.id));
  const isAlone = lost.length === 1 && serving.length === cluster.podCount;
  return [
    ...(lost.length > 0 && !isAlone
      ? [`${lost.map(({ name }) => name).join()} would go while others do not serve`]
      : []),
    ...followed.map(({ name }) => `${name} is primary, has a replica, and would go`),
  ];
}

/** A Valkey that may use more than its pod has is killed once it does. */
function findSqueeze({ pods }: SimulatedCluster, action: Action): string[] {
  const resources = resourcesIn(action);
  if (!resources) return [];
  const limit = memoryLimit({ resources });
  return pods
    .filter(({ uid }) => action.type !== 'ResizePod' || uid === action.uid)
    .filter(({ settings: { settings } }) => (parseMemorySize(settings['maxmemory'] ?? '0') ?? 0) > limit)
    .map(({ name }) => `${name} would have less memory than its maxmemory`);
}

/** What its kubelet has not given yet, the pod does not have. */
function findExcess({ name, memory, resize, settings: { settings } }: SimulatedPod, maxmemory = '0'): string[] {
  const [wanted, present] = [parseMemorySize(maxmemory) ?? 0, parseMemorySize(settings['maxmemory'] ?? '0') ?? 0];
  const isMore = memory > 0 && wanted > present && (wanted > memory || resize !== undefined);
  return isMore ? [`${name} would get maxmemory ${maxmemory} without the memory for it`] : [];
}

function resourcesIn(action: Action): EffectiveClusterSpec['resources'] | undefined {
  if (action.type === 'ResizePod') return action.resources;
  if (action.type !== 'ApplyChild' || action.object.kind !== 'StatefulSet') return undefined;
  const { template } = action.object['spec'] as { template: ReturnType<typeof buildPodTemplate> };
  return template.spec.containers[0]?.resources;
}

/** A node that slots arrive at claims what it has just given away, should it not have heard of that. */
function findContraryMoves(cluster: SimulatedCluster, actions: readonly NodeAction[]): string[] {
  const running = cluster.nodes.flatMap(({ id, move }) =>
    move?.state === 'running' ? [{ from: id, to: move.targetId }] : [],
  );
  const ordered = actions.flatMap(({ pod, command }) => {
    const from = cluster.pods.find(({ name }) => name === pod)?.node?.id;
    return command.do === 'moveSlots' && from !== undefined ? [{ from, to: command.target.nodeId }] : [];
  });
  return ordered
    .filter(({ from, to }) => [...running, ...ordered].some((other) => other.from === to || other.to === from))
    .map(({ from, to }) => `slots would move from ${from} to ${to} while others move the other way`);
}

function findHarm(cluster: SimulatedCluster, { pod: name, command }: NodeAction): string[] {
  const pod = cluster.pods.find((each) => each.name === name);
  switch (command.do) {
    case 'forget':
      return identities(cluster)
        .filter(({ id }) => command.nodeIds.includes(id))
        .map(({ id }) => `${id} exists and would be forgotten`);
    case 'addSlots': {
      const slots = SlotSet.parse(command.slots);
      // Who took over has the keys, and the later word; the one before it has yet to hear that, before it starts.
      const isHeirOf = ({ id, epoch }: Identity) =>
        !cluster.nodes.some((node) => node.id === id) &&
        pod?.node !== undefined &&
        pod.node.epoch > epoch &&
        slots.difference(pod.node.data).isEmpty;
      const owners = identities(cluster).filter(
        (each) => each.role === 'primary' && !each.slots.intersection(slots).isEmpty && !isHeirOf(each),
      );
      return owners.map(({ id }) => `${id} owns slots that ${name} would get`);
    }
    case 'failover':
      return findHarmOfFailover(cluster, pod, command.mode);
    case 'reset':
      return [
        ...(losesKeys(cluster, pod?.node) ? [`${name} would lose its keys`] : []),
        ...findHarmOfLeaving(cluster, pod),
      ];
    case 'replicate':
      return findHarmOfLeaving(cluster, pod);
    case 'setConfig':
      return pod ? findExcess(pod, command.settings['maxmemory']) : [];
    case 'moveSlots': {
      const target = cluster.pods.find(({ node }) => node?.id === command.target.nodeId);
      const { wantedPods } = expectedPods(cluster.snapshot(), cluster.primaries.length);
      const isGoing = (target?.ordinal ?? 0) >= wantedPods;
      const isStranger = pod?.node && !pod.node.table.has(command.target.nodeId);
      return [
        ...(isGoing && command.method === 'atomic' ? [`${target?.name} would get slots and is about to go`] : []),
        ...(isStranger ? [`${name} would move slots to ${target?.name}, which it does not know`] : []),
      ];
    }
    default:
      return [];
  }
}

function findHarmOfFailover(cluster: SimulatedCluster, pod: SimulatedPod | undefined, mode: string): string[] {
  const isForced = cluster.cluster.metadata.annotations?.[annotations.forceTakeover] !== undefined;
  const { primaryId, syncedOnce, offset } = pod?.node ?? {};
  const isAlive = cluster.nodes.some(({ id, role }) => id === primaryId && role === 'primary');
  const isMoving = cluster.nodes.some(({ move }) => move?.state === 'running');
  return [
    ...(mode === 'coordinated' && isMoving ? [`${pod?.name} would take over while slots move`] : []),
    ...(mode !== 'coordinated' && isAlive ? [`${pod?.name} would be promoted beside its living primary`] : []),
    ...(!isForced && !(syncedOnce && offset) ? [`${pod?.name} was never in sync and would be promoted`] : []),
  ];
}

/** The one replica that has all data of a shard does not leave it to one that has not, unless none is wanted. */
function findHarmOfLeaving({ nodes, spec }: SimulatedCluster, pod: SimulatedPod | undefined): string[] {
  const { node } = pod ?? {};
  const isLed = nodes.some(({ id, role, slots }) => id === node?.primaryId && role === 'primary' && !slots.isEmpty);
  if (!node?.linkUp || !isLed || spec.replicasPerMaster === 0) return [];
  const siblings = nodes.filter((other) => other !== node && other.primaryId === node.primaryId);
  const isNeeded = siblings.length > 0 && !siblings.some(({ linkUp }) => linkUp);
  return isNeeded ? [`${pod?.name} is the only replica in sync and would leave its shard`] : [];
}

/** A replica loses nothing that its primary has. */
function losesKeys({ nodes }: SimulatedCluster, node: SimulatedNode | undefined): boolean {
  const primary = nodes.find(({ id }) => node?.role === 'replica' && id === node.primaryId);
  return node?.data.difference(primary?.data ?? SlotSet.empty).isEmpty === false;
}

/** Takes a replica that serves, or a primary, out of service for a moment. */
function isDisruption(cluster: SimulatedCluster, { pod: name, command }: NodeAction): boolean {
  if (command.do === 'failover') return true;
  const node = cluster.pods.find((each) => each.name === name)?.node;
  const follows = cluster.nodes.some(
    ({ id, role, slots }) => id === node?.primaryId && role === 'primary' && !slots.isEmpty,
  );
  return command.do === 'replicate' && node?.role === 'replica' && node.linkUp && follows;
}

/** Every node that runs, or that a pod could bring back from its volume. */
function identities(cluster: SimulatedCluster): Identity[] {
  return [...cluster.volumes].flatMap(([ordinal, { identity }]) => {
    if (ordinal >= cluster.podCount) return [];
    const pod = cluster.pods.find((each) => each.ordinal === ordinal);
    const present = pod?.process === 'running' ? pod.node : identity;
    return present ? [present] : [];
  });
}
