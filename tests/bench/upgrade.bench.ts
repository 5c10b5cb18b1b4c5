import { pods } from '@valkey-operator/kube';
import { expectText } from '@valkey-operator/valkey';
import { call, type Member, type TestCluster } from '../support/test-cluster.ts';
import { type Bench, median } from './bench.ts';
import { withCluster } from './support/bench-cluster.ts';
import { until, whileWritten } from './support/measured-load.ts';

const namespace = 'bench-upgrade';
const ROUNDS = 5;
const valkey = (tag: string) => ({ valkeyImage: { name: 'docker.io/valkey/valkey', tag } });
/** With volumes a node keeps its identity, so that it finds its primary again without an operator. */
const kept = { pvc: { storageSize: '50Mi' }, deletionPolicy: 'Delete' } as const;

/**
 * How fast pods are replaced: checks, handovers and what the operator notices late are all on top of what a pod needs by
 * itself to end, to start and to copy its data. The floor is a replica that is deleted while the operator may do nothing.
 */
const upgrade: Bench = {
  name: 'upgrade',
  description:
    'time per pod of an upgrade 8.1 to 9.1, against that of a replica that is deleted with the operator paused',
  run: (testbed) =>
    withCluster(
      testbed,
      namespace,
      (cluster) =>
        whileWritten(
          () => cluster.seeds(),
          async () => {
            const floor = await testbed.progress.step('Delete replicas by hand', () => replaceByHand(cluster));
            const ours = await testbed.progress.step('Upgrade all pods', () => upgradeAll(cluster));
            return { ours, floor, unit: 's', maxRatio: 1.5 };
          },
        ),
      { ...kept, ...valkey('8.1') },
    ),
};

async function replaceByHand(cluster: TestCluster): Promise<number> {
  await cluster.annotate({ 'valkey.io/paused': 'true' });
  await cluster.waitForReason('Paused', ['Paused']);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [primary] = (await cluster.primaries()).slice(round % 3) as [Member];
    times.push(await timed(() => replace(cluster, primary)));
  }
  await cluster.annotate({ 'valkey.io/paused': null });
  await cluster.waitUntilAtRest();
  return median(times);
}

/** Until its replica is a new pod that is Ready and in sync. */
async function replace(cluster: TestCluster, primary: Member): Promise<void> {
  const { pod, podUid } = await cluster.replicaOf(primary);
  await cluster.client.delete(pods, { namespace, name: pod });
  await until(`${pod} is back`, async () => {
    const found = await cluster.client.get(pods, { namespace, name: pod });
    const isReady = found?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
    if (!isReady || found?.metadata.uid === podUid) return false;
    const info = expectText(await call(found?.status?.podIP ?? '', ['INFO', 'replication']));
    return info.includes('master_link_status:up');
  });
}

/** Seconds per pod. */
async function upgradeAll(cluster: TestCluster): Promise<number> {
  const before = new Set((await cluster.pods()).map(({ metadata }) => metadata.uid));
  const seconds = await timed(async () => {
    await cluster.apply({ ...kept, ...valkey('9.1') });
    await until('every pod is replaced', async () =>
      (await cluster.pods()).every(({ metadata }) => !before.has(metadata.uid)),
    );
    await cluster.waitUntilAtRest();
  });
  return seconds / before.size;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

export default upgrade;
