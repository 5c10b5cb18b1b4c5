import { RefusalReason, type SlotRange } from '@valkey-operator/rpc';
import { done, refused } from '@valkey-operator/rpc/sidecar';
import { expectArray, SlotSet, ValkeyError } from '@valkey-operator/valkey';
import { askNode, findSelf } from '../ask-node.ts';
import type { SlotMover } from '../slot-move/slot-mover.ts';
import type { SlotSearch } from '../slot-search.ts';
import { BECOME_PRIMARY } from '../unborn.ts';
import type { ClusterFacts } from '../valkey-facts.ts';
import { handler, InvalidCommandError, lookAtCluster, type Node } from './effect.ts';
import { isKeptWaiting, type OwnChanges, withShortRejoin } from './short-rejoin.ts';

export const addSlots = (
  node: Node,
  { nodeTimeoutMs, settings }: { readonly nodeTimeoutMs: () => Promise<number>; readonly settings: OwnChanges },
  ask = askNode,
) =>
  handler<'addSlots'>(async ({ slots }) => {
    const cluster = await lookAtCluster(node);
    const missing = toSlotSet(slots).difference(cluster.myself.slots);
    if (missing.isEmpty) return done({ unchanged: true });
    const owner = await findOwner(cluster, missing, ask);
    if (owner) return refused(RefusalReason.GUARD, `${owner} says itself that it owns some of these slots`);
    // An unborn node leaves the stand-in that it followed (unborn.ts).
    const take = () => atOnce(node, [...(cluster.unborn ? [BECOME_PRIMARY] : []), ...takeSlots(cluster, missing)]);
    if (isKeptWaiting(cluster)) await withShortRejoin(node, { nodeTimeoutMs: await nodeTimeoutMs(), settings }, take);
    else await take();
  });

/**
 * The last of its first slots it takes as if that had been moved here: then Valkey tells all nodes that it knows, instead of
 * one after the other when it pings them, and gives it an epoch.
 */
function takeSlots(cluster: ClusterFacts, slots: SlotSet): string[][] {
  const former = findFormerOwner(cluster);
  // Whoever else has them in its table, or in its files, had them before.
  if (!former) return [...free(cluster, slots), rangeCommand('ADDSLOTSRANGE', slots), ['CLUSTER', 'BUMPEPOCH']];
  const last = slots.highest(1);
  const others = slots.difference(last);
  const setSlot = ['CLUSTER', 'SETSLOT', last.toString()];
  return [
    ...free(cluster, others),
    ...(others.isEmpty ? [] : [rangeCommand('ADDSLOTSRANGE', others)]),
    [...setSlot, 'IMPORTING', former],
    [...setSlot, 'NODE', cluster.myself.id],
  ];
}

/** From whom a first slot may seem to come. Not where there are replicas: Valkey would wait for them to agree. */
function findFormerOwner({ myself, nodes, standIns }: ClusterFacts): string | undefined {
  const isFirst = myself.slots.isEmpty && nodes.every(({ primaryId }) => primaryId !== myself.id);
  const others = nodes.filter(({ id, role, handshake }) => id !== myself.id && role === 'primary' && !handshake);
  return isFirst ? [...standIns, ...others][0]?.id : undefined;
}

/** Who owns them by the table of this node may have lost them since; what counts is its own word, unless it has failed. */
async function findOwner({ nodes }: ClusterFacts, slots: SlotSet, ask: typeof askNode): Promise<string | undefined> {
  const believed = nodes.filter((node) => !node.slots.intersection(slots).isEmpty && node.health !== 'failed');
  const words = await Promise.all(believed.map(async (node) => ({ node, self: findSelf(await ask(node)) })));
  return words.find(({ node, self }) => self?.id !== node.id || !self.slots.intersection(slots).isEmpty)?.node.id;
}

/** What a stand-in owns nobody owns; and who else seems to own them has been asked. */
function free({ standIns, nodes }: ClusterFacts, slots: SlotSet): string[][] {
  const taken = ownedBy([...standIns, ...nodes]).intersection(slots);
  return taken.isEmpty ? [] : [rangeCommand('DELSLOTSRANGE', taken)];
}

function ownedBy(nodes: readonly { readonly slots: SlotSet }[]): SlotSet {
  return nodes.reduce((all, { slots }) => all.union(slots), SlotSet.empty);
}

export const deleteSlots = (node: Node) =>
  handler<'deleteSlots'>(async ({ slots }) => {
    const { nodes } = await lookAtCluster(node);
    const present = toSlotSet(slots).intersection(ownedBy(nodes));
    if (present.isEmpty) return done({ unchanged: true });
    await node.call(...rangeCommand('DELSLOTSRANGE', present));
  });

/**
 * One after the other: each is passed on to the replicas before it is answered. What has left a slot comes back as soon as that is
 * closed, not before, because an open one sends clients elsewhere. Should that fail, the next slots are still open, and ordered again.
 */
export const closeSlots = (node: Node, mover: Pick<SlotMover, 'bringBack'>) =>
  handler<'closeSlots'>(async ({ slots }) => {
    const { myself } = await lookAtCluster(node);
    const wanted = toSlotSet(slots);
    const open = myself.openSlots.map(({ slot }) => slot).filter((slot) => wanted.has(slot));
    for (const slot of open) {
      await node.call('CLUSTER', 'SETSLOT', String(slot), 'STABLE');
      if (myself.slots.has(slot)) await mover.bringBack(slot);
    }
    if (open.length === 0) return done({ unchanged: true });
  });

export const searchSlots = (node: Node, search: SlotSearch) =>
  handler<'searchSlots'>(async ({ slots }) => {
    await search.run(node, toSlotSet(slots));
    await node.refresh(); // which tells those who watch
  });

function rangeCommand(command: string, slots: SlotSet): string[] {
  return ['CLUSTER', command, ...slots.ranges.flat().map(String)];
}

/** Valkey does nothing else in between: nobody sees a node that has given up one thing and not yet got the other. */
async function atOnce(node: Node, commands: readonly (readonly string[])[]): Promise<void> {
  if (commands.length === 1) return void (await node.call(...commands[0]!));
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
