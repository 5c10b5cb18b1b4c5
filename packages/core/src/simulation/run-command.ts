import { parseMemorySize, SlotSet } from '@valkey-operator/valkey';
import type { NodeAction, NodeGuard } from '../actions.ts';
import type { NodeSettings } from '../builders/settings.ts';
import { obeyMove } from './simulated-moves.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';
import { follow, freshIdentity, type SimulatedNode } from './simulated-node.ts';
import type { RunningPod } from './simulated-pod.ts';

const BAN_MS = 60_000;

/** What a sidecar does with a command: refuse it when the guard does not hold, else have its effect. */
export function runCommand(cluster: SimulatedCluster, pod: RunningPod, { command, guard }: NodeAction): boolean {
  const { node } = pod;
  if (!holds(guard, node)) return false;
  switch (command.do) {
    case 'meet':
      return command.peers.map((peer) => meet(cluster, pod, peer)).every(Boolean);
    case 'addSlots': {
      const slots = SlotSet.parse(command.slots);
      const isBusy = !ownedIn(node).intersection(slots).isEmpty;
      if (isBusy) return false;
      node.slots = node.slots.union(slots);
      if (node.epoch === 0) node.epoch = 1 + Math.max(0, ...Array.from(node.table.values(), ({ epoch }) => epoch));
      return true;
    }
    case 'replicate':
      if (
        !node.table.has(command.primaryId) ||
        (node.role === 'primary' && (!node.slots.isEmpty || !node.data.isEmpty))
      )
        return false;
      if (node.primaryId !== command.primaryId) follow(node, command.primaryId);
      return true;
    case 'failover':
      return failOver(cluster, node, command.mode);
    case 'forget':
      if (command.nodeIds.some((id) => id === node.primaryId || id === node.id)) return false;
      for (const id of command.nodeIds) {
        node.table.delete(id);
        node.bans.set(id, cluster.now + BAN_MS);
      }
      return true;
    case 'reset':
      if (node.role === 'primary' && !node.data.isEmpty) return false;
      Object.assign(node, { ...freshIdentity(command.hard ? cluster.nextId('node') : node.id), data: SlotSet.empty });
      return true;
    case 'setConfig':
      return setConfig(cluster, pod, command);
    case 'moveSlots':
    case 'cancelMove':
    case 'closeSlots':
      return obeyMove(node, command);
    case 'searchSlots': {
      const slots = SlotSet.parse(command.slots);
      node.search = { slots: command.slots, withKeys: slots.intersection(node.data).toString(), at: cluster.now };
      return true;
    }
    case 'releaseGate':
      return false;
  }
}

function setConfig({ memory }: SimulatedCluster, pod: RunningPod, { settings, hash }: NodeSettings): boolean {
  const [refused] = Object.entries(settings).filter(([, value]) => pod.refuses.has(value));
  const message = refused && `CONFIG SET failed (possibly related to argument '${refused[0]}') - no such value`;
  pod.rejected = message ? { hash, message } : undefined;
  if (message) return false;
  const limit = settings['maxmemory'];
  if (limit !== pod.settings.settings['maxmemory']) memory.limit(pod.ordinal, parseMemorySize(limit ?? '') ?? 0);
  pod.settings = { settings, hash };
  return true;
}

function meet({ bus }: SimulatedCluster, pod: RunningPod, { nodeId, ip }: { nodeId: string; ip: string }): boolean {
  const peer = bus.findAt(ip);
  if (peer?.node.id !== nodeId) return false;
  bus.introduce(pod.node, peer);
  bus.introduce(peer.node, pod);
  return pod.node.table.has(nodeId);
}

function failOver(cluster: SimulatedCluster, node: SimulatedNode, mode: 'coordinated' | 'force' | 'takeover'): boolean {
  const primary = cluster.nodes.find(({ id }) => id === node.primaryId);
  if (node.role !== 'replica' || (mode === 'coordinated' && (!node.linkUp || !primary))) return false;
  cluster.bus.promote(node);
  if (mode === 'coordinated' && primary) {
    const line = primary.table.get(node.id);
    follow(primary, node.id);
    if (line) line.slots = node.slots;
  }
  // A node writes down that it was promoted before it acts on it.
  cluster.persist();
  return true;
}

function holds(guard: NodeGuard, node: SimulatedNode): boolean {
  const facts: boolean[] = [
    guard.nodeId === undefined || guard.nodeId === node.id,
    guard.role === undefined || guard.role === node.role,
    guard.primaryId === undefined || guard.primaryId === node.primaryId,
    guard.configEpoch === undefined || guard.configEpoch === node.epoch,
    guard.linkUp === undefined || guard.linkUp === node.linkUp,
    guard.minReplicationOffset === undefined || node.offset >= guard.minReplicationOffset,
    ...(guard.slotOwners ?? []).map(({ slots, nodeId }) => {
      const guarded = SlotSet.parse(slots);
      if (nodeId === '') return ownedIn(node).intersection(guarded).isEmpty;
      return nodeId === node.id && guarded.difference(node.slots).isEmpty;
    }),
  ];
  return facts.every(Boolean);
}

/** All slots that have an owner in this node's view. */
function ownedIn(node: SimulatedNode): SlotSet {
  return [...node.table.values()].reduce((all, { slots }) => all.union(slots), node.slots);
}
