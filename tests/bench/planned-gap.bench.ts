import { expectText } from '@valkey-operator/valkey';
import { layIn } from '../support/stock.ts';
import { call, type Member, type TestCluster } from '../support/test-cluster.ts';
import type { Bench, Measurement } from './bench.ts';
import { withCluster } from './support/bench-cluster.ts';
import { measureGap, until, whileWritten } from './support/measured-load.ts';
import type { Testbed } from './support/testbed.ts';

const namespace = 'bench-gap';
const valkey = (tag: string) => ({ valkeyImage: { name: 'docker.io/valkey/valkey', tag } });
const LIMIT_MS = 500;
/** For scaling: the source of a range is paused the longer the more keys change hands. */
const KEYS = 200_000;

/**
 * How long a shard takes no writes when something is changed that takes its primary away, or slots from it: one coordinated
 * failover, and nothing on top. The floor is that failover alone, asked for by hand on the same cluster.
 */
const plannedGap: Bench = {
  name: 'planned-gap',
  description:
    'longest write gap of an upgrade, restart, scale-out, scale-in and drain, against that of bare CLUSTER FAILOVER calls',
  run: (testbed) =>
    withCluster(
      testbed,
      namespace,
      async (cluster) => {
        await testbed.progress.step('Lay in keys', async () => layIn(await cluster.primaries(), KEYS));
        return measureAll(testbed, cluster);
      },
      valkey('8.1'),
    ),
};

/**
 * A round of bare failovers comes before each: the longest of as many is compared with the longest of as many, and both meet the
 * same Valkey and the same moods of the machine.
 */
const changes: Record<string, { readonly what: string; readonly make: (cluster: TestCluster) => Promise<void> }> = {
  upgrade: { what: 'Upgrade to 9.1', make: (it) => replaceAll(it, () => it.apply(valkey('9.1'))) },
  restart: { what: 'Restart', make: (it) => replaceAll(it, () => restart(it)) },
  'scale-out': { what: 'Scale out', make: (it) => scale(it, 4) },
  'scale-in': { what: 'Scale in', make: (it) => scale(it, 3) },
  drain: { what: 'Drain a node', make: drain },
};

async function measureAll({ progress }: Testbed, cluster: TestCluster): Promise<Measurement> {
  // Each under a load of its own, which begins with the shards that there are: of a shard that came later it would see little.
  const measure = (what: string, change: (cluster: TestCluster) => Promise<void>) =>
    progress.step(what, async (step) => {
      const gap = await whileWritten(
        () => cluster.seeds(),
        (load) => measureGap(load, () => change(cluster)),
      );
      step.note(`gap ${Math.round(gap)} ms`);
      return gap;
    });
  const gaps: { readonly name: string; readonly bare: number; readonly planned: number }[] = [];
  for (const [name, { what, make }] of Object.entries(changes)) {
    const bare = await measure('Bare failovers', failOverAll);
    gaps.push({ name, bare, planned: await measure(what, make) });
  }
  const also = gaps.flatMap(({ name, bare, planned }) => [
    { what: name, value: planned, unit: 'ms' },
    { what: `bare failovers before the ${name}`, value: bare, unit: 'ms' },
  ]);
  const [ours, floor] = [gaps.map(({ planned }) => planned), gaps.map(({ bare }) => bare)];
  return { ours: Math.max(...ours), floor: Math.max(...floor), unit: 'ms', limit: LIMIT_MS, maxRatio: 1.5, also };
}

async function replaceAll(cluster: TestCluster, change: () => Promise<void>): Promise<void> {
  const before = await uidsOf(cluster);
  await change();
  await until('every pod is replaced', async () => (await uidsOf(cluster)).every((uid) => !before.includes(uid)));
  await cluster.waitUntilAtRest();
}

function restart(cluster: TestCluster): Promise<void> {
  return cluster.annotate({ 'valkey.io/restart-at': new Date().toISOString() });
}

async function scale(cluster: TestCluster, shards: number): Promise<void> {
  await cluster.scaleTo(shards);
  await cluster.waitForShards(shards);
}

async function drain(cluster: TestCluster): Promise<void> {
  const [{ kubernetesNode }] = (await cluster.primaries()) as [Member];
  const ours = [`--pod-selector=valkey.io/cr=${cluster.name}`, '--delete-emptydir-data', '--timeout=150s'];
  try {
    await cluster.lab.kubectl(['drain', kubernetesNode, ...ours]);
    await cluster.waitUntilAtRest();
  } finally {
    await cluster.lab.kubectl(['uncordon', kubernetesNode]);
  }
}

/** One shard after the other, each when the one before is whole again. */
async function failOverAll(cluster: TestCluster): Promise<void> {
  for (const primary of await cluster.primaries()) {
    const { ip } = await cluster.replicaOf(primary);
    const says = async (host: string, words: string) =>
      expectText(await call(host, ['INFO', 'replication'])).includes(words);
    // What changed last may still be settling.
    await until('the replica is in step', () => says(ip, 'master_link_status:up'));
    await call(ip, ['CLUSTER', 'FAILOVER']);
    await until('the replica has taken over', () => says(ip, 'role:master'));
    await until('the old primary follows', () => says(primary.ip, 'master_link_status:up'));
  }
}

async function uidsOf(cluster: TestCluster): Promise<string[]> {
  return (await cluster.pods()).map(({ metadata }) => metadata.uid!);
}

export default plannedGap;
