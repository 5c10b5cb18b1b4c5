import { expectArray, planSlotMoves, SLOT_COUNT } from '@valkey-operator/valkey';
import { layIn } from '../support/stock.ts';
import { call, type Member } from '../support/test-cluster.ts';
import type { Bench } from './bench.ts';
import { withCluster } from './support/bench-cluster.ts';
import { countSlots, growOurs, makeBare, until } from './support/reshard.ts';

const namespace = 'bench-atomic';
/** Enough that each source moves two ranges, one after the other. */
const KEYS = 1_000_000;
/** So many keys the operator moves at once. */
const KEYS_AT_ONCE = 50_000;

/**
 * How long it takes to move a quarter of all slots to a fourth shard by atomic migration. The floor is CLUSTER MIGRATESLOTS
 * of the same ranges on plain Valkeys with the same keys, given as soon as the one before has ended.
 */
const reshardAtomic: Bench = {
  name: 'reshard-atomic',
  description: 'a quarter of the slots moved atomically (Valkey 9.1), against raw CLUSTER MIGRATESLOTS',
  run: (testbed) =>
    withCluster(testbed, namespace, async (cluster) => {
      const { progress } = testbed;
      await progress.step('Lay in keys', async () => layIn(await cluster.primaries(), KEYS));
      const growth = await progress.step('Scale out, ours', () => growOurs(cluster, isMigrating));
      const bare = { namespace, name: 'plain', size: 8 };
      const { sources, target } = await progress.step('Make plain Valkeys', () => makeBare(cluster.lab, bare, KEYS));
      const floor = await progress.step('Migrate by hand', () => migrateByHand(sources, target));
      return {
        ours: growth.moveSeconds,
        floor,
        unit: 's',
        maxRatio: 1.11,
        also: [
          { what: 'ours', value: KEYS / 4 / growth.moveSeconds, unit: 'keys/s' },
          { what: 'raw', value: KEYS / 4 / floor, unit: 'keys/s' },
          { what: 'the whole scale-out, pods included,', value: growth.wholeSeconds, unit: 's' },
        ],
      };
    }),
};

async function isMigrating(sources: readonly Member[]): Promise<boolean> {
  const lists = await Promise.all(sources.map(({ ip }) => call(ip, ['CLUSTER', 'GETSLOTMIGRATIONS'])));
  return lists.some((list) => expectArray(list).length > 0);
}

/** All sources side by side, each range by range. */
async function migrateByHand(sources: readonly Member[], target: Member): Promise<number> {
  const owned = new Map(sources.map(({ self }) => [self.id, self.slots]));
  const moves = planSlotMoves(owned, [...owned.keys(), target.self.id]);
  const slotsAtOnce = Math.floor((KEYS_AT_ONCE * SLOT_COUNT) / KEYS);
  const start = performance.now();
  const moving = moves.map(async ({ from, slots }) => {
    const source = sources.find(({ self }) => self.id === from)!;
    let owns = source.self.slots.count;
    for (let left = slots; !left.isEmpty; left = left.difference(left.lowest(slotsAtOnce))) {
      const range = left.lowest(slotsAtOnce);
      const words = range.ranges.flatMap(([first, last]) => [`${first}`, `${last}`]);
      await call(source.ip, ['CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', ...words, 'NODE', target.self.id]);
      owns -= range.count;
      await until('the range has moved', async () => (await countSlots([source])) <= owns);
    }
  });
  await Promise.all(moving);
  return (performance.now() - start) / 1000;
}

export default reshardAtomic;
