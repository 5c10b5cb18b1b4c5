import { SLOT_COUNT } from '@valkey-operator/valkey';
import { layIn } from '../support/stock.ts';
import type { Member, TestCluster } from '../support/test-cluster.ts';
import type { Bench, Measurement } from './bench.ts';
import { withCluster } from './support/bench-cluster.ts';
import { whileWritten } from './support/measured-load.ts';
import { countSlots, findBare, growOurs, makeBare, QUARTER, readPersistence, until } from './support/reshard.ts';
import type { Testbed } from './support/testbed.ts';

const namespace = 'bench-by-key';
const KEYS = 200_000;
const TAG = '8.1';
const PLAIN = 'plain';
/** What ours ask for by default. */
const CPU = '100m';

/**
 * How long it takes to move a quarter of all slots to a fourth shard where Valkey cannot do it by itself. The floor is
 * valkey-cli on plain Valkeys with the same keys, settings and clients, with the pipeline that is best for it. Both from the first
 * slot that has moved to the last.
 */
const reshardByKey: Bench = {
  name: 'reshard-by-key',
  description: 'a quarter of the slots moved key by key (Valkey 8.1), against valkey-cli --cluster-pipeline 100',
  run: (testbed) =>
    withCluster(testbed, namespace, (cluster) => measure(testbed, cluster), {
      valkeyImage: { name: 'docker.io/valkey/valkey', tag: TAG },
    }),
};

async function measure({ progress }: Testbed, cluster: TestCluster): Promise<Measurement> {
  const givers = await cluster.primaries();
  await progress.step('Lay in keys', () => layIn(givers, KEYS));
  const growth = await progress.step('Scale out, ours', () =>
    whileWritten(
      () => cluster.seeds(),
      () => growOurs(cluster, async (sources) => (await countSlots(sources)) < SLOT_COUNT),
    ),
  );
  const bare = { namespace, name: PLAIN, size: 8, tag: TAG, cpu: CPU, settings: await readPersistence(givers[0]!) };
  const { sources } = await progress.step('Make plain Valkeys', () => makeBare(cluster.lab, bare, KEYS));
  const floor = await progress.step('Rebalance by valkey-cli', () =>
    whileWritten(
      () => findBare(cluster.lab, bare),
      () => rebalanceByCli(cluster, sources),
    ),
  );
  const moved = KEYS / 4;
  return {
    ours: growth.moveSeconds,
    floor,
    unit: 's',
    maxRatio: 1.25,
    also: [
      { what: 'ours', value: moved / growth.moveSeconds, unit: 'keys/s' },
      { what: 'valkey-cli', value: moved / floor, unit: 'keys/s' },
      { what: 'the whole scale-out, pods included,', value: growth.wholeSeconds, unit: 's' },
    ],
  };
}

async function rebalanceByCli({ lab }: TestCluster, sources: readonly Member[]): Promise<number> {
  const rebalance = ['--cluster', 'rebalance', `${sources[0]!.ip}:6379`, '--cluster-use-empty-masters'];
  const command = ['valkey-cli', ...rebalance, '--cluster-pipeline', '100'];
  const done = lab.kubectl(['-n', namespace, 'exec', `${PLAIN}-0`, '--', ...command]);
  await until('the first slot has moved', async () => (await countSlots(sources)) < SLOT_COUNT);
  const begun = performance.now();
  await until('a quarter has moved', async () => (await countSlots(sources)) <= SLOT_COUNT - QUARTER);
  const seconds = (performance.now() - begun) / 1000;
  await done;
  return seconds;
}

export default reshardByKey;
