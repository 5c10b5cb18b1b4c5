import type { SlotRange } from '@valkey-operator/rpc';
import { done } from '@valkey-operator/rpc/sidecar';
import { SlotSet } from '@valkey-operator/valkey';
import { handler, InvalidCommandError, lookAtCluster, type Node } from './effect.ts';
import { isKeptWaiting, withShortRejoin } from './short-rejoin.ts';

export const addSlots = (node: Node, nodeTimeoutMs: () => Promise<number>) =>
  handler<'addSlots'>(async ({ slots }) => {
    const { myself } = await lookAtCluster(node);
    const missing = toSlotSet(slots).difference(myself.slots);
    if (missing.isEmpty) return done({ unchanged: true });
    const give = () => change(node, 'ADDSLOTSRANGE', missing);
    if (isKeptWaiting(await node.refresh())) await withShortRejoin(node, await nodeTimeoutMs(), give);
    else await give();
  });

export const deleteSlots = (node: Node) =>
  handler<'deleteSlots'>(async ({ slots }) => {
    const { nodes } = await lookAtCluster(node);
    const owned = nodes.reduce((all, each) => all.union(each.slots), SlotSet.empty);
    const present = toSlotSet(slots).intersection(owned);
    if (present.isEmpty) return done({ unchanged: true });
    await change(node, 'DELSLOTSRANGE', present);
  });

/** One after the other: each is passed on to the replicas before it is answered. */
export const closeSlots = (node: Node) =>
  handler<'closeSlots'>(async ({ slots }) => {
    const { myself } = await lookAtCluster(node);
    const wanted = toSlotSet(slots);
    const open = myself.openSlots.map(({ slot }) => slot).filter((slot) => wanted.has(slot));
    for (const slot of open) await node.call('CLUSTER', 'SETSLOT', String(slot), 'STABLE');
    if (open.length === 0) return done({ unchanged: true });
  });

async function change(node: Node, command: string, slots: SlotSet): Promise<void> {
  await node.call('CLUSTER', command, ...slots.ranges.flat().map(String));
}

export function toSlotSet(ranges: readonly SlotRange[]): SlotSet {
  try {
    return SlotSet.of(ranges.map(({ start, end }) => [start, end] as const));
  } catch (error) {
    throw new InvalidCommandError(error instanceof Error ? error.message : String(error));
  }
}
