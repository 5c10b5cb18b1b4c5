import type { SlotRange } from '@valkey-operator/rpc';
import { done } from '@valkey-operator/rpc/sidecar';
import { SlotSet } from '@valkey-operator/valkey';
import { handler, InvalidCommandError, lookAtCluster, type Node } from './effect.ts';

export const addSlots = (node: Node) =>
  handler<'addSlots'>(async ({ slots }) => {
    const { myself } = await lookAtCluster(node);
    return change(node, 'ADDSLOTSRANGE', toSlotSet(slots).difference(myself.slots));
  });

export const deleteSlots = (node: Node) =>
  handler<'deleteSlots'>(async ({ slots }) => {
    const { nodes } = await lookAtCluster(node);
    const owned = nodes.reduce((all, each) => all.union(each.slots), SlotSet.empty);
    return change(node, 'DELSLOTSRANGE', toSlotSet(slots).intersection(owned));
  });

async function change(node: Node, command: string, slots: SlotSet) {
  if (slots.isEmpty) return done({ unchanged: true });
  await node.call('CLUSTER', command, ...slots.ranges.flat().map(String));
}

export function toSlotSet(ranges: readonly SlotRange[]): SlotSet {
  try {
    return SlotSet.of(ranges.map(({ start, end }) => [start, end] as const));
  } catch (error) {
    throw new InvalidCommandError(error instanceof Error ? error.message : String(error));
  }
}
