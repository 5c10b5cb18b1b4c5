import type { OrchestrationKind } from '@valkey-operator/api';
import { pods } from '@valkey-operator/kube';
import { expectMap } from '@valkey-operator/valkey';
import { expect } from 'vitest';
import { call, sampleSpec, type TestCluster, valkeyClusters } from '../../support/test-cluster.ts';

/** An operation that can be begun again and again. */
export interface CrashOperation {
  readonly name: string;
  /** As the status calls it. */
  readonly kind: OrchestrationKind;
  /** Brings the cluster to where it begins. */
  readonly prepare?: (run: number) => Promise<void>;
  /** With annotations for a cluster that does not exist yet. */
  readonly begin: (run: number, annotations: Record<string, string>) => Promise<void>;
  /** Whether what was asked for is so. */
  readonly isDone: (run: number) => Promise<boolean>;
}

type Spec = Parameters<TestCluster['apply']>[0];

const POLL = { timeout: 120_000, interval: 250 };
const memory = (mebibytes: number) => ({ requests: { memory: `${mebibytes}Mi` }, limits: { memory: '512Mi' } });
const image = (tag: string) => ({ ...sampleSpec.valkeyImage!, tag });

/**
 * Every orchestration. Each leaves the cluster where the next can begin, and asks for another value each time, so that any
 * can be repeated; what has two directions goes there and back.
 */
export function listOperations(cluster: TestCluster, whenSettled: () => Promise<void>): readonly CrashOperation[] {
  let spec: Spec = {
    valkeyImage: image('8.1'),
    allowDowngrade: true,
    pvc: { storageSize: '50Mi' },
    deletionPolicy: 'Delete',
    resources: memory(128),
  };
  let before: ReadonlySet<string> = new Set();
  const change = (part: Spec) => cluster.apply((spec = { ...spec, ...part }));
  const settle = async (part: Spec) => {
    await change(part);
    await whenSettled();
  };
  const setting = (name: string, value: string) => ({ config: { ...spec?.config, [name]: value } });
  const countPods = async () => (await cluster.pods()).length;
  const uids = async () => new Set((await cluster.pods()).map(({ metadata }) => metadata.uid!));
  const isReplaced = async () => [...(await uids())].every((uid) => !before.has(uid));
  const tag = (run: number) => (run % 2 === 0 ? '9.1' : '8.1');

  return [
    {
      name: 'Create',
      kind: 'Create',
      prepare: async () => {
        if (!(await cluster.client.get(valkeyClusters, cluster.ref))) return;
        await cluster.delete();
        await expect.poll(countPods, POLL).toBe(0);
        await expect.poll(() => cluster.client.get(valkeyClusters, cluster.ref), POLL).toBeUndefined();
      },
      begin: (_, annotations) => cluster.apply(spec, annotations),
      isDone: async () => (await countPods()) === 6,
    },
    {
      name: 'ScaleReplicas, down',
      kind: 'ScaleReplicas',
      prepare: () => settle({ replicasPerMaster: 1 }),
      begin: () => change({ replicasPerMaster: 0 }),
      isDone: async () => (await countPods()) === 3 && (await listCapacities(cluster)).length === 3,
    },
    {
      name: 'ScaleReplicas, up',
      kind: 'ScaleReplicas',
      prepare: () => settle({ replicasPerMaster: 0 }),
      begin: () => change({ replicasPerMaster: 1 }),
      isDone: async () => (await countPods()) === 6,
    },
    {
      name: 'Reconfigure',
      kind: 'Reconfigure',
      begin: (run) => change(setting('hz', String(20 + run))),
      isDone: (run) => isEverywhere(cluster, 'hz', String(20 + run)),
    },
    {
      name: 'Reconfigure, with a restart',
      kind: 'Reconfigure',
      begin: (run) => change(setting('databases', String(20 + run))),
      isDone: (run) => isEverywhere(cluster, 'databases', String(20 + run)),
    },
    {
      name: 'Resize',
      kind: 'Reconfigure',
      begin: (run) => change({ resources: memory(129 + run) }),
      isDone: async (run) =>
        (await cluster.pods()).every(
          (pod) => pod.spec?.containers[0]?.resources?.requests?.['memory'] === `${129 + run}Mi`,
        ),
    },
    {
      name: 'GrowVolumes',
      kind: 'GrowVolumes',
      begin: (run) => change({ pvc: { storageSize: `${51 + run}Mi` } }),
      isDone: async (run) => (await listCapacities(cluster)).every((size) => size === `${51 + run}Mi`),
    },
    {
      name: 'Restart',
      kind: 'Restart',
      begin: async () => {
        before = await uids();
        await cluster.annotate({ 'valkey.io/restart-at': new Date().toISOString() });
      },
      isDone: isReplaced,
    },
    {
      name: 'Upgrade',
      kind: 'Upgrade',
      begin: (run) => change({ valkeyImage: image(tag(run)) }),
      isDone: async (run) =>
        (await cluster.pods()).every(({ spec: pod }) => pod?.containers[0]?.image?.endsWith(tag(run))),
    },
    {
      name: 'Heal',
      kind: 'Heal',
      begin: async () => {
        const [primary] = await cluster.primaries();
        before = new Set([primary!.podUid]);
        await cluster.client.delete(pods, { namespace: cluster.namespace, name: primary!.pod });
      },
      isDone: async () => (await countPods()) === 6 && (await isReplaced()),
    },
  ];
}

async function isEverywhere(cluster: TestCluster, name: string, value: string): Promise<boolean> {
  const answers = await Promise.all((await cluster.members()).map(({ ip }) => call(ip, ['CONFIG', 'GET', name])));
  return answers.every((answer) => expectMap(answer).get(name) === value);
}

async function listCapacities({ lab, namespace }: TestCluster): Promise<string[]> {
  const { stdout } = await lab.kubectl(['-n', namespace, 'get', 'pvc', '-o', 'json']);
  const { items } = JSON.parse(stdout) as { items: { status?: { capacity?: { storage?: string } } }[] };
  return items.map(({ status }) => status?.capacity?.storage ?? '');
}
