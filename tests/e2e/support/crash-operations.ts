import { annotations, labels, type OrchestrationKind } from '@valkey-operator/api';
import { parseImage } from '@valkey-operator/core';
import { mislabelled } from '@valkey-operator/lab';
import { expectArray, expectMap } from '@valkey-operator/valkey';
import { expect } from 'vitest';
import { call, type TestCluster, valkeyClusters } from '../../support/test-cluster.ts';
import { whenSettled } from './crash-end.ts';
import { type CrashSpec, image, memory, size, type Spec, usual, usualSize } from './crash-spec.ts';
import { askForUpgrade, findUpgrade } from './upgrades.ts';
import { loseFiles } from './data-directory.ts';

/** An operation that can be begun again and again. */
export interface CrashOperation {
  readonly name: string;
  /** As the status calls it; what is done beside all operations is upkeep. */
  readonly kind: OrchestrationKind | 'Upkeep';
  /** Points that are its own, though nothing runs yet. */
  readonly also?: readonly string[];
  /** It leads another way every other time. */
  readonly alternates?: true;
  /** What the spec says where it begins; without it there is no cluster. */
  readonly from?: Spec;
  /** What else must be so there. */
  readonly prepare?: () => Promise<void>;
  /** With annotations for a cluster that does not exist yet. */
  readonly begin: (run: number, crash: Record<string, string>) => Promise<void>;
  /** Whether what was asked for is so. */
  readonly isDone: (run: number) => Promise<boolean>;
}

const POLL = { timeout: 120_000, interval: 250 };

/** Every orchestration. Each asks for another value every time, or for what is not so where it begins. */
export function listOperations(cluster: TestCluster, spec: CrashSpec): readonly CrashOperation[] {
  let before: ReadonlySet<string> = new Set();
  const countPods = async () => (await cluster.pods()).length;
  const countPrimaries = async () => (await cluster.primaries()).length;
  const countNodesOfPrimaries = async () =>
    new Set((await cluster.primaries()).map(({ kubernetesNode }) => kubernetesNode)).size;
  const uids = async () => (await cluster.pods()).map(({ metadata }) => metadata.uid!);

  const scaleOut = {
    kind: 'ScaleOut',
    begin: () => spec.change(size(4, 1)),
    isDone: async () => (await countPods()) === 8 && (await countPrimaries()) === 4,
  } as const;
  const scaleIn = {
    kind: 'ScaleIn',
    begin: () => spec.change(usualSize),
    isDone: async () => (await countPods()) === 6 && (await listCapacities(cluster)).length === 6,
  } as const;

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
      begin: (_, crash) => spec.change({}, crash),
      isDone: async () => (await countPods()) === 6,
    },
    {
      name: 'ScaleReplicas, down',
      kind: 'ScaleReplicas',
      from: usual,
      // So that one hands over before its pod goes.
      prepare: async () => {
        const findLast = async () => (await cluster.members()).find(({ pod }) => pod.endsWith('-5'))!;
        if ((await findLast()).self.role === 'primary') return;
        await call((await findLast()).ip, ['CLUSTER', 'FAILOVER']);
        await expect.poll(async () => (await findLast()).self.role, POLL).toBe('primary');
        await whenSettled(cluster);
      },
      begin: () => spec.change(size(3, 0)),
      isDone: async () => (await countPods()) === 3 && (await listCapacities(cluster)).length === 3,
    },
    {
      name: 'ScaleReplicas, up',
      kind: 'ScaleReplicas',
      from: { ...usual, ...size(3, 0) },
      begin: () => spec.change(usualSize),
      isDone: async () => (await countPods()) === 6,
    },
    { name: 'ScaleOut', from: usual, ...scaleOut },
    {
      name: 'ScaleOut, with replicas',
      kind: 'ScaleOut',
      from: usual,
      begin: () => spec.change(size(4, 2)),
      isDone: async () => (await countPods()) === 12 && (await countPrimaries()) === 4,
    },
    {
      name: 'ScaleOut, cancelled',
      kind: 'ScaleOut',
      from: usual,
      // Long before the first slot moves.
      begin: async () => {
        await spec.change(size(4, 1));
        await expect.poll(countPods, POLL).toBeGreaterThan(6);
        await cluster.annotate({ [annotations.cancel]: 'true' });
        await cluster.waitForReason('Progressing', ['Cancelled'], POLL.timeout);
        await expect.poll(countPods, POLL).toBe(6);
        await cluster.annotate({ [annotations.cancel]: null });
        await spec.change(usualSize);
      },
      isDone: async () => (await listCapacities(cluster)).length === 6,
    },
    { name: 'ScaleIn', from: { ...usual, ...size(4, 1) }, ...scaleIn },
    {
      name: 'Reconfigure',
      kind: 'Reconfigure',
      from: usual,
      begin: (run) => spec.configure('hz', String(20 + run)),
      isDone: (run) => isEverywhere(cluster, 'hz', String(20 + run)),
    },
    {
      name: 'Reconfigure, with a restart',
      kind: 'Reconfigure',
      from: usual,
      begin: (run) => spec.configure('databases', String(20 + run)),
      isDone: (run) => isEverywhere(cluster, 'databases', String(20 + run)),
    },
    {
      name: 'Reconfigure, with addresses outside',
      kind: 'Reconfigure',
      also: ['Upkeep/ApplyChild Service'],
      from: usual,
      begin: () => spec.change({ services: { external: { enabled: true, type: 'NodePort' } } }),
      isDone: () => areAnnounced(cluster),
    },
    {
      name: 'Upkeep, of a Service that was changed',
      kind: 'Upkeep',
      from: usual,
      begin: () => patchService(cluster, { externalTrafficPolicy: 'Local', type: 'NodePort' }),
      isDone: async () => (await readService(cluster)) === 'ClusterIP',
    },
    {
      name: 'Resize',
      kind: 'Reconfigure',
      from: usual,
      begin: (run) => spec.change({ resources: memory(129 + run) }),
      isDone: async (run) =>
        (await cluster.pods()).every(
          (pod) => pod.spec?.containers[0]?.resources?.requests?.['memory'] === `${129 + run}Mi`,
        ),
    },
    {
      name: 'GrowVolumes',
      kind: 'GrowVolumes',
      from: usual,
      begin: (run) => spec.change({ pvc: { storageSize: `${51 + run}Mi` } }),
      isDone: async (run) => (await listCapacities(cluster)).every((size) => size === `${51 + run}Mi`),
    },
    {
      name: 'Restart',
      kind: 'Restart',
      from: usual,
      begin: async () => {
        before = new Set(await uids());
        await cluster.annotate({ 'valkey.io/restart-at': new Date().toISOString() });
      },
      isDone: async () => (await uids()).every((uid) => !before.has(uid)),
    },
    {
      name: 'Failover',
      kind: 'Failover',
      from: usual,
      prepare: async () => {
        const [primary] = await cluster.primaries();
        await call((await cluster.replicaOf(primary!)).ip, ['CLUSTER', 'FAILOVER']);
        await expect.poll(countNodesOfPrimaries, POLL).toBe(2);
      },
      begin: () => spec.change({ rebalancePrimaries: true }),
      isDone: async () => (await countNodesOfPrimaries()) === 3,
    },
    {
      name: 'Heal',
      kind: 'Heal',
      from: usual,
      begin: async () => {
        const [primary] = await cluster.primaries();
        before = new Set([primary!.self.id]);
        loseFiles(primary!, () => true);
      },
      isDone: async () => {
        const members = await cluster.members();
        return members.length === 6 && members.every(({ table }) => table.every(({ id }) => !before.has(id)));
      },
    },
    {
      name: 'Upgrade',
      kind: 'Upgrade',
      alternates: true,
      from: usualSize,
      begin: () => spec.changeVersion(),
      isDone: async () => (await cluster.pods()).every((pod) => pod.spec?.containers[0]?.image?.endsWith(spec.tag)),
    },
    {
      name: 'Upgrade, refused',
      kind: 'Upgrade',
      from: usual,
      begin: async () => {
        await spec.change({ valkeyImage: parseImage(mislabelled.noValkey) });
        await cluster.waitForReason('Progressing', ['ImageUnavailable'], 2 * POLL.timeout);
        await spec.change(image('9.1'));
      },
      isDone: async () => (await listTrials(cluster)).length === 0,
    },
    {
      name: 'Upgrade, given up',
      kind: 'Upgrade',
      from: usual,
      begin: async () => {
        await spec.change({ sidecarImage: { name: 'ghcr.io/valkey-operator/sidecar', tag: '9.99' } });
        await cluster.waitForReason('Progressing', ['RolledBack'], 2 * POLL.timeout);
        await spec.change({ sidecarImage: undefined });
      },
      isDone: async () =>
        (await cluster.pods()).every((pod) => !pod.spec?.initContainers?.[0]?.image?.endsWith('9.99')),
    },
    {
      name: 'Upgrade, by an object',
      kind: 'Upgrade',
      // The image is recorded before anything runs.
      also: ['Upkeep/WriteStatus ValkeyClusterStatus', 'Upkeep/WriteStatus ValkeyUpgrade'],
      // Another image that is written takes its effect from the last one.
      from: usual,
      prepare: async () => {
        await spec.change(image('8.1'));
        await whenSettled(cluster);
      },
      begin: (run) => askForUpgrade(cluster, `climb-${run}`, '9.1'),
      isDone: async (run) => (await findUpgrade(cluster, `climb-${run}`))?.status?.phase === 'Succeeded',
    },
    { name: 'ScaleOut, key by key', from: { ...usual, ...image('8.1') }, ...scaleOut },
    { name: 'ScaleIn, key by key', from: { ...usual, ...image('8.1'), ...size(4, 1) }, ...scaleIn },
  ];
}

async function isEverywhere(cluster: TestCluster, name: string, value: string): Promise<boolean> {
  const answers = await Promise.all((await cluster.members()).map(({ ip }) => call(ip, ['CONFIG', 'GET', name])));
  return answers.every((answer) => expectMap(answer).get(name) === value);
}

/** Clients are sent to other ports than those inside. */
async function areAnnounced(cluster: TestCluster): Promise<boolean> {
  const tables = await Promise.all((await cluster.members()).map(({ ip }) => call(ip, ['CLUSTER', 'SLOTS'])));
  const ports = tables.flatMap((table) => expectArray(table).map((range) => expectArray(expectArray(range)[2])[1]));
  return ports.length > 0 && !ports.includes(6379);
}

async function patchService({ lab, namespace, name }: TestCluster, spec: object): Promise<void> {
  await lab.kubectl(['-n', namespace, 'patch', 'service', name, '--type=merge', '-p', JSON.stringify({ spec })]);
}

async function readService({ lab, namespace, name }: TestCluster): Promise<string> {
  return (await lab.kubectl(['-n', namespace, 'get', 'service', name, '-o', 'jsonpath={.spec.type}'])).stdout;
}

/** Pods on which an image tells what it is. */
async function listTrials({ lab, namespace }: TestCluster): Promise<string[]> {
  const { stdout } = await lab.kubectl([
    '-n',
    namespace,
    'get',
    'pods',
    '-l',
    `${labels.component}=trial`,
    '-o',
    'name',
  ]);
  return stdout.split('\n').filter(Boolean);
}

async function listCapacities({ lab, namespace }: TestCluster): Promise<string[]> {
  const { stdout } = await lab.kubectl(['-n', namespace, 'get', 'pvc', '-o', 'json']);
  const { items } = JSON.parse(stdout) as { items: { status?: { capacity?: { storage?: string } } }[] };
  return items.map(({ status }) => status?.capacity?.storage ?? '');
}
