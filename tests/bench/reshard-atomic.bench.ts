import { parseSlotMigrations, type SlotMigration, SlotSet } from '@valkey-operator/valkey';
import { layIn } from '../support/stock.ts';
import { call, type Member, type TestCluster } from '../support/test-cluster.ts';
import { type Bench, median } from './bench.ts';
import { withCluster } from './support/bench-cluster.ts';
import { countSlots, type Growth, growOurs, makeBare, readPersistence, until } from './support/reshard.ts';
import type { Testbed } from './support/testbed.ts';

const namespace = 'bench-atomic';
/** Enough that each source moves two ranges at least, one after the other. */
const KEYS = 1_000_000;
/** On a shared machine one move may take half as long again as the next: the median of these counts, of both sides. */
const ROUNDS = 9;

/**
 * How long it takes to move a quarter of all slots to a fourth shard by atomic migration. The floor is CLUSTER MIGRATESLOTS
 * of the very same ranges on plain Valkeys with the same keys and settings, given as soon as the one before has ended. They
 * take turns, and go back to three shards in between.
 */
const reshardAtomic: Bench = {
  name: 'reshard-atomic',
  description:
    'a quarter of the slots moved atomically (Valkey 9.1), against raw CLUSTER MIGRATESLOTS of the same ranges',
  run: async (testbed) => {
    const rounds = await withCluster(testbed, namespace, (cluster) => measure(testbed, cluster));
    const ours = median(rounds.map(({ growth }) => growth.moveSeconds));
    const floor = median(rounds.map((each) => each.floor));
    return {
      ours,
      floor,
      unit: 's',
      maxRatio: 1.11,
      also: [
        { what: 'ours', value: KEYS / 4 / ours, unit: 'keys/s' },
        { what: 'raw', value: KEYS / 4 / floor, unit: 'keys/s' },
        { what: 'so much at a time:', value: KEYS / 4 / median(rounds.map(({ ranges }) => ranges)), unit: 'keys' },
        {
          what: 'the whole scale-out, pods included,',
          value: median(rounds.map(({ growth }) => growth.wholeSeconds)),
          unit: 's',
          limit: 10,
        },
      ],
    };
  },
};

interface Round {
  readonly growth: Growth;
  readonly floor: number;
  readonly ranges: number;
}

/** A primary of ours, and the plain Valkey that has the same slots and does the same by hand. */
interface Twins {
  readonly plain: Member;
  /** What ours has given away or got since it was asked last, in this order. */
  readonly nextMigrations: () => Promise<SlotMigration[]>;
}

async function measure({ progress }: Testbed, cluster: TestCluster): Promise<Round[]> {
  const givers = await cluster.primaries();
  await progress.step('Lay in keys', () => layIn(givers, KEYS));
  const bare = { namespace, name: 'plain', size: 8, settings: await readPersistence(givers[0]!) };
  const { sources, target } = await progress.step('Make plain Valkeys', () => makeBare(cluster.lab, bare, KEYS));
  const twins = givers.map((ours): Twins => {
    const plain = sources.find(({ self }) => self.slots.toString() === ours.self.slots.toString())!;
    return { plain, nextMigrations: followMigrations(ours) };
  });
  const rounds: Round[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const growth = await progress.step(`Scale out, ours (${round} of ${ROUNDS})`, async (step) => {
      const grown = await growOurs(cluster, areMigrating);
      step.note(`slots moved in ${grown.moveSeconds.toFixed(2)} s`);
      return grown;
    });
    const given = await Promise.all(twins.map(({ nextMigrations }) => nextMigrations()));
    const ranges = given.map((migrations) => migrations.map(({ slots }) => slots));
    const floor = await progress.step('Migrate by hand', async (step) => {
      const seconds = await migrateByHand(twins, target, ranges);
      step.note(`slots moved in ${seconds.toFixed(2)} s`);
      return seconds;
    });
    rounds.push({ growth, floor, ranges: ranges.flat().length });
    if (round < ROUNDS) await progress.step('Back to three shards, both', () => goBack(cluster, twins, target));
  }
  return rounds;
}

function followMigrations(node: Member): Twins['nextMigrations'] {
  const seen = new Set<string>();
  return async () => {
    const fresh = (await readMigrations(node)).filter(({ name }) => !seen.has(name));
    for (const { name } of fresh) seen.add(name);
    return fresh;
  };
}

async function areMigrating(sources: readonly Member[]): Promise<boolean> {
  const migrations = await Promise.all(sources.map(readMigrations));
  return migrations.flat().some(({ operation, outcome }) => operation === 'export' && outcome === 'running');
}

async function readMigrations({ ip }: Member): Promise<SlotMigration[]> {
  const newestFirst = parseSlotMigrations(await call(ip, ['CLUSTER', 'GETSLOTMIGRATIONS']));
  return newestFirst.toReversed();
}

/** All sources side by side, each range by range. */
async function migrateByHand(
  twins: readonly Twins[],
  target: Member,
  ranges: readonly (readonly SlotSet[])[],
): Promise<number> {
  const owned = await Promise.all(twins.map(({ plain }) => countSlots([plain])));
  const start = performance.now();
  const moving = twins.map(async ({ plain }, index) => {
    let owns = owned[index]!;
    for (const range of ranges[index]!) {
      await migrate(plain, range, target);
      owns -= range.count;
      await until('the range has moved', async () => (await countSlots([plain])) <= owns);
    }
  });
  await Promise.all(moving);
  return (performance.now() - start) / 1000;
}

/** The plain ones get back the same slots as ours. */
async function goBack(cluster: TestCluster, twins: readonly Twins[], target: Member): Promise<void> {
  await cluster.scaleTo(3);
  await cluster.waitForShards(3);
  for (const { plain, nextMigrations } of twins) {
    const slots = (await nextMigrations()).reduce((all, each) => all.union(each.slots), SlotSet.of([]));
    const owns = (await countSlots([plain])) + slots.count;
    await migrate(target, slots, plain);
    await until('the slots are back', async () => (await countSlots([plain])) >= owns);
  }
}

async function migrate(source: Member, slots: SlotSet, target: Member): Promise<void> {
  const words = slots.ranges.flatMap(([first, last]) => [`${first}`, `${last}`]);
  await call(source.ip, ['CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', ...words, 'NODE', target.self.id]);
}

export default reshardAtomic;
