import { SLOT_COUNT } from './key-slot.ts';
import { SlotSet } from './slot-set.ts';

export interface SlotMove {
  readonly from: string;
  readonly to: string;
  readonly slots: SlotSet;
}

/** One range per shard, in order; sizes differ by at most one. */
export function assignSlotsEvenly(shardCount: number): SlotSet[] {
  if (!Number.isInteger(shardCount) || shardCount < 1 || shardCount > SLOT_COUNT) {
    throw new RangeError(`cannot share ${SLOT_COUNT} slots between ${shardCount} shards`);
  }
  const boundary = (index: number) => Math.floor((index * SLOT_COUNT) / shardCount);
  return Array.from({ length: shardCount }, (_, index) => SlotSet.of([[boundary(index), boundary(index + 1) - 1]]));
}

/**
 * The moves that leave every target shard with an even share and every other shard with nothing.
 *
 * With S slots owned and n targets each target ends with floor(S/n) slots, and S mod n of them with one more. A shard
 * must give what it has above its quota (all of it when it leaves), so the slots moved are at least the sum of these
 * surpluses; moving straight from surplus to deficit moves exactly that sum. It is smallest when the larger quotas go
 * to the shards that have the most already.
 *
 * Slots that nobody owns are no one's to move: the caller assigns those first.
 */
export function planSlotMoves(owners: ReadonlyMap<string, SlotSet>, targets: readonly string[]): SlotMove[] {
  const quotas = shareEvenly(owners, targets);
  const donors: { shard: string; surplus: SlotSet }[] = [];
  const receivers: { shard: string; deficit: number }[] = [];
  for (const shard of [...new Set([...owners.keys(), ...targets])].toSorted()) {
    const owned = owners.get(shard) ?? SlotSet.empty;
    const excess = owned.count - (quotas.get(shard) ?? 0);
    if (excess > 0) donors.push({ shard, surplus: owned.highest(excess) });
    if (excess < 0) receivers.push({ shard, deficit: -excess });
  }

  const moves: SlotMove[] = [];
  for (const { shard: from, surplus } of donors) {
    let rest = surplus;
    while (!rest.isEmpty) {
      const receiver = receivers[0];
      if (receiver === undefined) throw new Error('surplus without deficit: the quotas do not add up');
      const slots = rest.lowest(receiver.deficit);
      moves.push({ from, to: receiver.shard, slots });
      rest = rest.difference(slots);
      receiver.deficit -= slots.count;
      if (receiver.deficit === 0) receivers.shift();
    }
  }
  return moves;
}

/** Slots owned after the moves were made. A slot set is never lost: what leaves one shard arrives at another. */
export function applySlotMoves(owners: ReadonlyMap<string, SlotSet>, moves: readonly SlotMove[]): Map<string, SlotSet> {
  const result = new Map(owners);
  for (const { from, to, slots } of moves) {
    result.set(from, (result.get(from) ?? SlotSet.empty).difference(slots));
    result.set(to, (result.get(to) ?? SlotSet.empty).union(slots));
  }
  return result;
}

function shareEvenly(owners: ReadonlyMap<string, SlotSet>, targets: readonly string[]): Map<string, number> {
  if (targets.length === 0) throw new RangeError('no shard is left to own the slots');
  const count = (shard: string) => owners.get(shard)?.count ?? 0;
  const total = [...owners.values()].reduce((sum, slots) => sum + slots.count, 0);
  const share = Math.floor(total / targets.length);
  const larger = total % targets.length;
  const ranked = targets.toSorted((a, b) => count(b) - count(a) || (a < b ? -1 : 1));
  return new Map(ranked.map((shard, rank) => [shard, rank < larger ? share + 1 : share]));
}
