import { SlotSet } from '@valkey-operator/valkey';
import type { Action, NodeAction } from '../actions.ts';
import { type NodeSettings, settingsInEffect, settingsOfNode } from '../builders/settings.ts';
import { describeSettingChanges } from '../setting-changes.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { listNames } from '../status/list-names.ts';

/** What an action means to a person. */
export interface Effect {
  readonly text: string;
  /** That are added, removed or restarted. */
  readonly pods?: readonly string[];
  readonly isFailover?: boolean;
  readonly isDisruptive?: boolean;
  /** Slots that go from one pod to another; the text is for all of them together. */
  readonly moved?: SlotSet;
}

/** Seen from before it happens. Labels, certificates and introductions are nobody's concern. */
export function describeEffect(cluster: SimulatedCluster, action: Action): Effect | undefined {
  switch (action.type) {
    case 'ApplyChild':
      return action.object.kind === 'StatefulSet' ? describeSize(cluster, action) : describeApply(cluster, action);
    case 'DeleteChild':
      return action.kind === 'Pod' ? undefined : { text: `Delete ${action.kind} ${action.name}` };
    case 'DeleteClaim':
      return { text: `Delete volume ${action.claim}` };
    case 'GrowClaim':
      return { text: `Volume ${action.claim} grows to ${action.storage}` };
    case 'ResizePod':
      return { text: `Pod ${action.pod} gets its new resources while it runs`, pods: [action.pod] };
    case 'DeletePod':
      return describeReplacement(cluster, action.pod);
    case 'CommandNode':
      return describeCommand(cluster, action);
    default:
      return undefined;
  }
}

function describeApply({ children, names }: SimulatedCluster, { object }: Extract<Action, { type: 'ApplyChild' }>) {
  const { kind, metadata } = object;
  if (kind === 'Pod') {
    const what = metadata.name === names.trial ? 'the settings that only a start reads' : 'the new image';
    return { text: `Start a Valkey without data with ${what}` };
  }
  const isThere = children.has(`${kind}/${metadata.name}`);
  // It opens and closes for every pod that is replaced.
  if (isThere && kind === 'PodDisruptionBudget') return undefined;
  if (isThere && kind === 'ConfigMap') return { text: 'Keep these settings for the next start of every node' };
  return { text: `${isThere ? 'Update' : 'Create'} ${kind} ${metadata.name}` };
}

function describeSize(cluster: SimulatedCluster, action: Extract<Action, { type: 'ApplyChild' }>): Effect {
  const { replicas } = action.object['spec'] as { replicas: number };
  const { podCount, names } = cluster;
  if (replicas === podCount) return { text: 'From now on pods are made of the new template' };
  const [few, many] = [Math.min(podCount, replicas), Math.max(podCount, replicas)];
  const pods = Array.from({ length: many - few }, (_, index) => names.pod(few + index));
  const noun = pods.length === 1 ? 'pod' : 'pods';
  return { text: `${replicas > podCount ? 'Add' : 'Remove'} ${noun} ${listNames(pods)}`, pods };
}

function describeReplacement({ pods, primaries }: SimulatedCluster, pod: string): Effect {
  const node = primaries.find(({ name }) => name === pod)?.node;
  const isFailover = node !== undefined && pods.some((each) => each.node?.primaryId === node.id);
  const gap = node && `, the only one of slots ${node.slots.toString()}, which are not served meanwhile`;
  const text = `Replace pod ${pod}${isFailover ? ', whose replica takes over' : (gap ?? '')}`;
  return { text, pods: [pod], isFailover, isDisruptive: true };
}

function describeCommand(cluster: SimulatedCluster, { pod, command, guard }: NodeAction): Effect | undefined {
  const podOf = (id: string | undefined) => cluster.pods.find(({ node }) => node?.id === id)?.name ?? 'its primary';
  switch (command.do) {
    case 'failover':
      return { text: `${pod} takes over from ${podOf(guard.primaryId)}`, isFailover: true, isDisruptive: true };
    case 'replicate':
      return { text: `${pod} becomes a replica of ${podOf(command.primaryId)}` };
    case 'addSlots':
      return { text: `${pod} gets slots ${command.slots}` };
    case 'moveSlots':
      return { text: 'Move slots until all shards have the same number', moved: SlotSet.parse(command.slots) };
    case 'setConfig':
      return { text: `Set ${describeSettings(cluster, pod, command)} on every node` };
    case 'reset':
      return { text: `${pod} begins anew` };
    default:
      return undefined;
  }
}

function describeSettings(cluster: SimulatedCluster, pod: string, wanted: NodeSettings): string {
  const inEffect = settingsInEffect(cluster.snapshot());
  const own = inEffect && { ...inEffect, settings: settingsOfNode(inEffect, pod), nodes: {} };
  return (own && describeSettingChanges(own, wanted)) || 'the settings in effect';
}
