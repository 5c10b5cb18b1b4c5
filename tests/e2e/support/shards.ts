import { SLOT_COUNT } from '@valkey-operator/valkey';
import { expect } from 'vitest';
import { countStock } from '../../support/stock.ts';
import type { TestCluster } from '../../support/test-cluster.ts';

/** Where tests of scaling begin and end, whichever way slots move. */
export const POLL = { timeout: 90_000, interval: 100 };

/** Everything is as the spec asks, nothing is under way, and no pod is left over. */
export async function waitForShards(cluster: TestCluster, count: number, replicas = 1): Promise<void> {
  await cluster.waitForShards(count);
  await expect.poll(async () => (await cluster.pods()).length, POLL).toBe(count * (1 + replicas));
}

/** Where a test begins, also when it is tried again. */
export async function startFrom(cluster: TestCluster, shards: number): Promise<void> {
  await cluster.scaleTo(shards);
  await waitForShards(cluster, shards);
}

/** What all nodes together say of the slots and of the keys that were laid in. */
export async function describeSlots(cluster: TestCluster) {
  const members = await cluster.members();
  const counts = members.filter(({ self }) => !self.slots.isEmpty).map(({ self }) => self.slots.count);
  return {
    shards: counts.length,
    slots: counts.reduce((sum, count) => sum + count, 0),
    isEven: Math.max(...counts) - Math.min(...counts) <= 1,
    known: [...new Set(members.map(({ table }) => table.length))],
    open: members.flatMap(({ self }) => (self.role === 'primary' ? self.openSlots : [])),
    stock: await countStock(await cluster.primaries()),
  };
}

export const evenly = (
  shards: number,
  stock: number,
  pods = shards * 2,
): Awaited<ReturnType<typeof describeSlots>> => ({
  shards,
  slots: SLOT_COUNT,
  isEven: true,
  known: [pods],
  open: [],
  stock,
});
