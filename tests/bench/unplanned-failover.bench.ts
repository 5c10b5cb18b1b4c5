import { freezeComponent, thawComponent } from '@valkey-operator/lab';
import { type KubeClient, pods } from '@valkey-operator/kube';
import { expectArray, expectText } from '@valkey-operator/valkey';
import { type LoadProcess, startLoad } from '../load/start-load.ts';
import { createBarePods, formBareCluster } from '../support/bare-cluster.ts';
import { signalPodProcess } from '../support/pod-processes.ts';
import { call, type TestCluster } from '../support/test-cluster.ts';
import { type Bench, median } from './bench.ts';
import { withCluster } from './support/bench-cluster.ts';
import { measureGap, until } from './support/measured-load.ts';

const namespace = 'bench-failover';
const KILLS = 3;
const VALKEY = 'valkey-server';

/** What our nodes run with. */
const SETTINGS = {
  'cluster-node-timeout': '5000',
  'cluster-require-full-coverage': 'no',
  'cluster-allow-replica-migration': 'no',
  'repl-diskless-sync-delay': '0',
  appendonly: 'yes',
};

/** A Valkey process on a node of the lab. */
interface Victim {
  readonly podUid: string;
  readonly kubernetesNode: string;
}

/** A cluster whose primaries are killed. */
interface Subject {
  readonly name: string;
  readonly load: LoadProcess;
  readonly gaps: number[];
  findPrimary(): Promise<Victim>;
  kill(victim: Victim): Promise<void>;
  /** After the gap: waits until the next kill finds a whole cluster. */
  recover(victim: Victim): Promise<void>;
}

/**
 * How long a shard takes no writes when its primary is killed -9. The floor is a cluster of plain Valkeys with the same
 * settings on the same lab, and a killed one stays away until its replica has taken over, for so would ours: a primary that is
 * back at once and empty has no gap worth mentioning, and no data.
 */
const unplannedFailover: Bench = {
  name: 'unplanned-failover',
  description: 'longest write gap when a primary is killed, against that of plain Valkeys with the same settings',
  run: (testbed) =>
    withCluster(testbed, namespace, async (cluster) => {
      const ours = await observe(cluster);
      const bare = await testbed.progress.step('Make a cluster of plain Valkeys', () => makeBare(cluster));
      await using stack = new AsyncDisposableStack();
      for (const { load } of [ours, bare]) stack.use(load);
      for (let round = 1; round <= KILLS; round += 1) {
        for (const subject of [ours, bare]) {
          await testbed.progress.step(`Kill ${round}, ${subject.name}`, async (step) => {
            const gapMs = await killAndRecover(subject);
            step.note(`gap ${(gapMs / 1000).toFixed(2)} s`);
          });
        }
      }
      const [us, floor] = [ours, bare].map(({ gaps }) => median(gaps) / 1000) as [number, number];
      return { ours: us, floor, unit: 's', maxRatio: 1.1 };
    }),
};

async function killAndRecover(subject: Subject): Promise<number> {
  const victim = await subject.findPrimary();
  const gapMs = await measureGap(subject.load, () => subject.kill(victim));
  subject.gaps.push(gapMs);
  await subject.recover(victim);
  return gapMs;
}

async function observe(cluster: TestCluster): Promise<Subject> {
  return {
    name: 'ours',
    load: await startLoad({ findSeeds: () => cluster.seeds() }),
    gaps: [],
    findPrimary: async () => (await cluster.primaries())[0]!,
    kill: async ({ podUid }) => signalPodProcess(podUid, VALKEY, 'SIGKILL'),
    recover: async () => {
      await until('every primary has its replica', async () =>
        isWhole((await cluster.seeds()).map(({ host }) => host)),
      );
      await cluster.waitUntilReady();
    },
  };
}

async function makeBare({ lab, client }: TestCluster): Promise<Subject> {
  const bare = { namespace, name: 'plain', size: 6, settings: SETTINGS };
  await createBarePods(lab, bare);
  await formBareCluster(lab, bare);
  const list = () => listBare(client, bare.name);
  const ips = async () => (await list()).map(({ ip }) => ip);
  await until('every primary has its replica', async () => isWhole(await ips()));
  return {
    name: 'plain',
    load: await startLoad({ findSeeds: async () => (await ips()).map((host) => ({ host, port: 6379 })) }),
    gaps: [],
    findPrimary: async () => {
      for (const each of await list()) if ((await roleOf(each.ip)) === 'master') return each;
      throw new Error('no plain Valkey is a primary');
    },
    kill: async ({ podUid, kubernetesNode }) => {
      await freezeComponent(lab, `${kubernetesNode}/kubelet`);
      signalPodProcess(podUid, VALKEY, 'SIGKILL');
    },
    recover: async ({ kubernetesNode }) => {
      thawComponent(lab, `${kubernetesNode}/kubelet`);
      await until('every primary has its replica', async () => isWhole(await ips()));
    },
  };
}

async function listBare(client: KubeClient, name: string): Promise<(Victim & { ip: string })[]> {
  const { items } = await client.list(pods, { namespace, labelSelector: `app=${name}` });
  return items.map(({ metadata, spec, status }) => ({
    podUid: metadata.uid,
    ip: status?.podIP ?? '',
    kubernetesNode: spec?.nodeName ?? '',
  }));
}

const roleOf = async (ip: string) => expectArray(await call(ip, ['ROLE']))[0];

/** Six nodes answer, three of them as replicas whose link is up. */
async function isWhole(ips: readonly string[]): Promise<boolean> {
  const answers = await Promise.all(ips.map(async (ip) => expectText(await call(ip, ['INFO', 'replication']))));
  const inSync = answers.filter((info) => info.includes('master_link_status:up'));
  return answers.length === 6 && inSync.length === 3;
}

export default unplannedFailover;
