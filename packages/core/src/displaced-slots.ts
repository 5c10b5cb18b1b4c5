import { type SlotMove, SlotSet } from '@valkey-operator/valkey';
import type { PlanView } from './decision.ts';
import { previousDetail } from './previous-detail.ts';
import type { Shard } from './topology.ts';

/** Slots that somebody has moved out of the shard that they belong to, or is about to. */
export interface Displaced {
  readonly slots: SlotSet;
  readonly owner: Shard;
  /** None while they are on their way, or while the one that has got them has not said so. */
  readonly holder: Shard | undefined;
}

/**
 * Against what was written down last, and only while nothing was under way: whatever has moved since, nobody here has
 * moved. Once found it is written down until the slots are back, because the next look finds something under way. What would
 * not leave everybody an even share is not ours to bring back: then the record is older than our own last move.
 */
export function findDisplaced(view: PlanView): Displaced[] {
  const { shards, formed, scaling } = view.topology;
  if (!formed || scaling) return [];
  const found = findBelongings(view).flatMap(({ shard, slots }) => {
    const owner = shards.find(({ id }) => id === shard);
    return owner ? locate(slots, owner, shards) : [];
  });
  if (found.length === 0) return [];
  const counts = shards.map((shard) => found.reduce((sum, each) => sum + comesBack(each, shard), shard.slots.count));
  return Math.max(...counts) - Math.min(...counts) <= 1 ? found : [];
}

/** What was found before goes before what was written down since: there the slots are with the one that has taken them. */
function findBelongings(view: PlanView): { shard: string; slots: SlotSet }[] {
  const { shards: recorded = [], displaced = [] } = previousDetail(view.snapshot);
  const owed = displaced.map(({ shard, slots }) => ({ shard, slots: SlotSet.parse(slots.join(' ')) }));
  if (!wasAtRest(view)) return owed;
  const known = owed.reduce((all, { slots }) => all.union(slots), SlotSet.empty);
  const others = recorded.map(({ id, slots = [] }) => ({
    shard: id,
    slots: SlotSet.parse(slots.join(' ')).difference(known),
  }));
  return [...owed, ...others];
}

/** Where those are that are not at home, or on their way out. */
function locate(belongings: SlotSet, owner: Shard, shards: readonly Shard[]): Displaced[] {
  const missing = belongings.difference(owner.slots);
  const leaving = (owner.primary.cluster.exports ?? [])
    .reduce((all, { slots }) => all.union(SlotSet.parse(slots)), SlotSet.empty)
    .intersection(belongings);
  // Almost always: among hundreds of shards, each is not compared with each.
  if (missing.isEmpty && leaving.isEmpty) return [];
  const held = shards.map((holder) => ({ owner, holder, slots: holder.slots.intersection(missing) }));
  const unheld = held.reduce((rest, { slots }) => rest.difference(slots), missing).union(leaving);
  return [...held, { owner, holder: undefined, slots: unheld }].filter(({ slots }) => !slots.isEmpty);
}

/** By how many slots this shard has more once they are back. */
function comesBack({ slots, owner, holder }: Displaced, shard: Shard): number {
  if (shard === owner) return slots.difference(owner.slots).count;
  return shard === holder ? -slots.count : 0;
}

/**
 * Nothing was under way when the detail was written. By its own log, because the status of the cluster is another object:
 * what begins may be seen there before it is here. An operation that goes on after a step has failed has an end in the log.
 */
export function wasAtRest({ snapshot, topology: { formed, missing } }: PlanView): boolean {
  const { orchestrationLog, observedGeneration } = previousDetail(snapshot);
  const { metadata, status } = snapshot.cluster;
  const last = orchestrationLog?.at(-1);
  const isOver = last === undefined || (last.finishedAt && last.orchestration !== status?.orchestration?.id);
  return formed && missing.length === 0 && Boolean(isOver) && observedGeneration === metadata.generation;
}

/** What brings them back, given who will own what when all that is under way has arrived. */
export function planReturns(displaced: readonly Displaced[], owners: ReadonlyMap<string, SlotSet>): SlotMove[] {
  return displaced.flatMap(({ slots, owner, holder }) => {
    if (!holder) return [];
    const [from, to] = [holder.primary.id, owner.primary.id];
    const held = slots.intersection(owners.get(from) ?? SlotSet.empty);
    return held.isEmpty ? [] : [{ from, to, slots: held }];
  });
}
