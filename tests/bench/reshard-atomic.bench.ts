import { parseSlotMigrations, type SlotSet } from '@valkey-operator/valkey';
import type { LoadProcess } from '../load/start-load.ts';
import { layIn } from '../support/stock.ts';
import { call, type Member, type TestCluster } from '../support/test-cluster.ts';
import { type Bench, median } from './bench.ts';
import { withCluster } from './support/bench-cluster.ts';
import { measureGap, whileWritten } from './support/measured-load.ts';
import { countSlots, findBare, type Growth, growOurs, makeBare, readPersistence, until } from './support/reshard.ts';
import type { Testbed } from './support/testbed.ts';

const namespace = 'bench-atomic';
/** Enough that each source moves two ranges at least, one after the other. */
const KEYS = 1_000_000;
/** On a shared machine one move may take half as long again as the next: the median of these counts, of both sides. */
const ROUNDS = 9;
/**
 * What each Valkey asks for, on both sides, as it does where speed matters. Pods that ask for nothing get what is left over,
 * and how much that is depends on what the control plane happens to do beside.
 */
const CPU = '250m';
const spec = { resources: { requests: { cpu: CPU } } };

/**
 * How long it takes to move a quarter of all slots to a fourth shard by atomic migration. The floor is CLUSTER MIGRATESLOTS
 * of the very same ranges on plain Valkeys with the same keys, settings and clients, given as soon as the one before has ended.
 */
const reshardAtomic: Bench = {
  name: 'reshard-atomic',
  description:
    'a quarter of the slots moved atomically (Valkey 9.1), against raw CLUSTER MIGRATESLOTS of the same ranges',
  run: async (testbed) => {
    const rounds: Round[] = [];
    for (let round = 1; round <= ROUNDS; round += 1)
      rounds.push(await withCluster(testbed, `${namespace}-${round}`, (cluster) => measure(testbed, cluster), spec));
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
        {
          what: 'no writes to a shard, in any round, for',
          value: Math.max(...rounds.map(({ growth }) => growth.gapMs)),
          unit: 'ms',
          limit: 500,
        },
      ],
    };
  },
};

interface Round {
  readonly growth: Growth & { readonly gapMs: number };
  readonly floor: number;
  readonly ranges: number;
}

async function measure({ progress }: Testbed, cluster: TestCluster): Promise<Round> {
  const givers = await cluster.primaries();
  await progress.step('Lay in keys', () => layIn(givers, KEYS));
  const growth = await progress.step('Scale out, ours', async (step) => {
    const grown = await whileWritten(
      () => cluster.seeds(),
      (load) => growWritten(cluster, load),
    );
    step.note(`slots moved in ${grown.moveSeconds.toFixed(2)} s, gap ${Math.round(grown.gapMs)} ms`);
    return grown;
  });
  const ranges = await Promise.all(givers.map(readExports));
  const settings = await readPersistence(givers[0]!);
  const bare = { namespace: cluster.namespace, name: 'plain', size: 8, settings, cpu: CPU };
  const { sources, target } = await progress.step('Make plain Valkeys', () => makeBare(cluster.lab, bare, KEYS));
  const floor = await progress.step('Migrate by hand', async (step) => {
    const seconds = await whileWritten(
      () => findBare(cluster.lab, bare),
      () => migrateByHand(sources, target, ranges),
    );
    step.note(`slots moved in ${seconds.toFixed(2)} s`);
    return seconds;
  });
  return { growth, floor, ranges: ranges.flat().length };
}

async function growWritten(cluster: TestCluster, load: LoadProcess): Promise<Growth & { gapMs: number }> {
  let growth: Growth | undefined;
  const gapMs = await measureGap(load, async () => {
    growth = await growOurs(cluster, isMigrating);
  });
  return { ...growth!, gapMs };
}

async function isMigrating(sources: readonly Member[]): Promise<boolean> {
  return (await Promise.all(sources.map(readExports))).some((ranges) => ranges.length > 0);
}

/** What it has given away, in this order. */
async function readExports({ ip }: Member): Promise<SlotSet[]> {
  const newestFirst = parseSlotMigrations(await call(ip, ['CLUSTER', 'GETSLOTMIGRATIONS']));
  return newestFirst.map(({ slots }) => slots).toReversed();
}

/** All sources side by side, each range by range. */
async function migrateByHand(
  sources: readonly Member[],
  target: Member,
  ranges: readonly (readonly SlotSet[])[],
): Promise<number> {
  const start = performance.now();
  const moving = ranges.map(async (each) => {
    const source = sources.find(({ self }) => each.every((slots) => slots.difference(self.slots).isEmpty))!;
    let owns = source.self.slots.count;
    for (const range of each) {
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
