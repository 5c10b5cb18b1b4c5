import { expectArray, expectInteger, expectMap, type SlotSet } from '@valkey-operator/valkey';
import type { Connection } from '@valkey-operator/valkey/connection';

/** How many keys each slot has that the node owns. One round trip, and one reply for each range. */
export async function countKeys(connection: Connection, slots: SlotSet): Promise<Map<number, number>> {
  const replies = await Promise.all(
    slots.ranges.map(([first, last]) =>
      connection.call(['CLUSTER', 'SLOT-STATS', 'SLOTSRANGE', String(first), String(last)]),
    ),
  );
  const counts = replies.flatMap(expectArray).map((entry) => {
    const [slot, stats] = expectArray(entry);
    return [expectInteger(slot), expectInteger(expectMap(stats).get('key-count'))] as const;
  });
  return new Map(counts);
}

export function sumKeys(keys: ReadonlyMap<number, number>, slots: SlotSet): number {
  let sum = 0;
  for (const slot of slots) sum += keys.get(slot) ?? 0;
  return sum;
}

/** The lowest slots that together have at most `limit` keys, but at least one slot: a slot cannot be divided. */
export function takeSlots(slots: SlotSet, keys: ReadonlyMap<number, number>, limit: number): SlotSet {
  let sum = 0;
  let count = 0;
  for (const slot of slots) {
    sum += keys.get(slot) ?? 0;
    if (count > 0 && sum > limit) break;
    count += 1;
  }
  return slots.lowest(count);
}
