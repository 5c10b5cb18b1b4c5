import { applySlotMoves, type SlotMove, SlotSet } from '@valkey-operator/valkey';
import type { PlanView } from './decision.ts';
import { previousDetail } from './previous-detail.ts';
import type { Shard } from './topology.ts';

/** Slots that somebody has moved out of the shard that they belong to. */
export interface Displaced {
  readonly slots: SlotSet;
  readonly owner: Shard;
  readonly holder: Shard;
}

/**
 * Against what was written down last, and only while nothing was under way: whatever has moved since, nobody here has
 * moved. Once found it is written down until the slots are back, because the next look finds something under way. What would
 * not leave everybody an even share is not ours to bring back: then the record is older than our own last move.
 */
export function findDisplaced(view: PlanView): Displaced[] {
  const { snapshot, topology } = view;
  const { shards } = topology;
  if (!topology.formed || topology.scaling) return [];
  const { shards: recorded = [], displaced = [] } = previousDetail(snapshot);
  const belongings = isAtRest(view)
    ? [...displaced, ...recorded.map(({ id, slots = [] }) => ({ shard: id, slots }))]
    : displaced;
  const found = belongings.flatMap(({ shard, slots }) => {
    const owner = shards.find(({ id }) => id === shard);
    const missing = owner ? SlotSet.parse(slots.join(' ')).difference(owner.slots) : SlotSet.empty;
    // Almost always: among hundreds of shards, each is not compared with each.
    if (!owner || missing.isEmpty) return [];
    return shards.flatMap((holder) => {
      const taken = holder.slots.intersection(missing);
      return taken.isEmpty ? [] : [{ owner, holder, slots: taken }];
    });
  });
  if (found.length === 0) return [];
  const owned = new Map(shards.map(({ primary, slots }) => [primary.id, slots]));
  const counts = Array.from(applySlotMoves(owned, planReturns(found, owned)).values(), ({ count }) => count);
  return Math.max(...counts) - Math.min(...counts) <= 1 ? found : [];
}

export function isAtRest({ snapshot: { cluster }, topology: { formed, missing } }: PlanView): boolean {
  const { orchestration, observedGeneration } = cluster.status ?? {};
  const isOld = observedGeneration !== cluster.metadata.generation;
  return formed && missing.length === 0 && orchestration === undefined && !isOld;
}

/** What brings them back, given who will own what when all that is under way has arrived. */
export function planReturns(displaced: readonly Displaced[], owners: ReadonlyMap<string, SlotSet>): SlotMove[] {
  return displaced.flatMap(({ slots, owner, holder }) => {
    const [from, to] = [holder.primary.id, owner.primary.id];
    const held = slots.intersection(owners.get(from) ?? SlotSet.empty);
    return held.isEmpty ? [] : [{ from, to, slots: held }];
  });
}
