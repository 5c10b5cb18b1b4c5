import type { SlotRange } from '@valkey-operator/rpc';
import { done } from '@valkey-operator/rpc/sidecar';
import { expectArray, SlotSet, ValkeyError } from '@valkey-operator/valkey';
import { handler, InvalidCommandError, lookAtCluster, type Node } from './effect.ts';

export const addSlots = (node: Node) =>
  handler<'addSlots'>(async ({ slots }) => {
    const { myself, unborn, standIns } = await lookAtCluster(node);
    const missing = toSlotSet(slots).difference(myself.slots);
    if (missing.isEmpty) return done({ unchanged: true });
    const add = rangeCommand('ADDSLOTSRANGE', missing);
    // A stand-in owns them; whoever looks between these steps would see a node that serves nothing.
    const free = rangeCommand('DELSLOTSRANGE', missing);
    if (unborn) await atOnce(node, [['CLUSTER', 'FAILOVER', 'TAKEOVER'], free, add]);
    else if (standIns.length > 0) await atOnce(node, [free, add]);
    else await node.call(...add);
  });

export const deleteSlots = (node: Node) =>
  handler<'deleteSlots'>(async ({ slots }) => {
    const { nodes } = await lookAtCluster(node);
    const owned = nodes.reduce((all, each) => all.union(each.slots), SlotSet.empty);
    const present = toSlotSet(slots).intersection(owned);
    if (present.isEmpty) return done({ unchanged: true });
    await node.call(...rangeCommand('DELSLOTSRANGE', present));
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

function rangeCommand(command: string, slots: SlotSet): string[] {
  return ['CLUSTER', command, ...slots.ranges.flat().map(String)];
}

/** All of them or none, and Valkey does nothing else in between. */
async function atOnce(node: Node, commands: readonly string[][]): Promise<void> {
  const sent = [['MULTI'], ...commands, ['EXEC']].map((command) => node.call(...command));
  const outcomes = expectArray((await Promise.all(sent)).at(-1));
  for (const outcome of outcomes) if (outcome instanceof ValkeyError) throw outcome;
}

export function toSlotSet(ranges: readonly SlotRange[]): SlotSet {
  try {
    return SlotSet.of(ranges.map(({ start, end }) => [start, end] as const));
  } catch (error) {
    throw new InvalidCommandError(error instanceof Error ? error.message : String(error));
  }
}
