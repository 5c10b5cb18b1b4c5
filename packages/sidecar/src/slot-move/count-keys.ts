import { expectInteger, type SlotSet } from '@valkey-operator/valkey';
import type { Connection } from '@valkey-operator/valkey/connection';

/** How many keys each slot has. One round trip. */
export async function countKeys(connection: Connection, slots: SlotSet): Promise<Map<number, number>> {
  const replies = Array.from(slots, async (slot) => {
    const count = expectInteger(await connection.call(['CLUSTER', 'COUNTKEYSINSLOT', String(slot)]));
    return [slot, count] as const;
  });
  return new Map(await Promise.all(replies));
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
