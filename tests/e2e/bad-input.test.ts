import { pods, statefulSets } from '@valkey-operator/kube';
import { Lab } from '@valkey-operator/lab';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createRestrictedNamespace, TestCluster } from '../support/test-cluster.ts';

/** What people get wrong: each gets a clear word, and nobody else is touched (I5). */
const namespace = 'bad-input';
const elsewhere = 'bad-input-elsewhere';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const small = { replicasPerMaster: 0 } as const;

/** Two clusters of one name, in two namespaces: bystanders of all that goes wrong here. */
const bystanders = [namespace, elsewhere].map((place) => new TestCluster(lab, client, place, 'twin'));
let operatorBefore: unknown;
let bystandersBefore: unknown;

/** Which processes run: another pod or another start shows. */
async function lives(place: string, labelSelector: string): Promise<object[]> {
  const { items } = await client.list(pods, { namespace: place, labelSelector });
  return items.map(({ metadata, status }) => ({
    uid: metadata.uid,
    restarts: status?.containerStatuses?.map(({ restartCount }) => restartCount),
  }));
}
const operatorLives = () => lives('valkey-system', 'app.kubernetes.io/name=valkey-operator');
const bystanderLives = () => Promise.all(bystanders.map((cluster) => lives(cluster.namespace, 'valkey.io/cr=twin')));

beforeAll(async () => {
  for (const place of [namespace, elsewhere]) await createRestrictedNamespace(lab, place);
  await Promise.all(bystanders.map((cluster) => cluster.apply(small)));
  for (const cluster of bystanders) await cluster.waitUntilReady();
  operatorBefore = await operatorLives();
  bystandersBefore = await bystanderLives();
});

afterAll(() => lab.kubectl(['delete', 'namespace', namespace, elsewhere, '--wait=false']));

describe('admission refuses', () => {
  const named = (name: string) => new TestCluster(lab, client, namespace, name);

  test('fewer than three primaries', async () => {
    await expect(named('pair').apply({ masterCount: 2 })).rejects.toThrow(/spec\.masterCount.*3/);
  });

  test('scaling below three', async () => {
    await expect(lab.kubectl(['scale', 'vc/twin', '-n', namespace, '--replicas=2'])).rejects.toThrow(
      /spec\.masterCount: Invalid value: 2: must be between 3 and 500/,
    );
  });

  test('a maintenance window that never opens', async () => {
    const maintenanceWindows = [{ cron: '0 0 31 2 *', duration: '1h' }];
    await expect(named('never').apply({ maintenanceWindows })).rejects.toThrow(
      'spec.maintenanceWindows[0].cron: Invalid value: "0 0 31 2 *": must be a time that comes: no such month has that day',
    );
  });

  test('a name that leaves no room for the names of its children', async () => {
    await expect(named('x'.repeat(60)).apply({})).rejects.toThrow(/name/);
  });
});

describe('a cluster that cannot be put into effect says why', () => {
  const image = (name: string, tag: string) => ({ ...small, valkeyImage: { name, tag } });

  test.each([
    [
      'an image that does not exist',
      'no-image',
      image('docker.io/valkey/nothing', '1.0'),
      'ImageUnavailable',
      'docker.io/valkey/nothing:1.0',
    ],
    [
      'an image that is no Valkey',
      'no-valkey',
      image('registry.k8s.io/pause', '3.10'),
      'ImageUnavailable',
      'valkey-server',
    ],
    [
      'more than any node has',
      'too-much',
      { ...small, resources: { requests: { cpu: '1000', memory: '512Mi' }, limits: { memory: '512Mi' } } },
      'Unschedulable',
      'Insufficient cpu',
    ],
    [
      'a node that there is not',
      'no-node',
      { ...small, nodeSelector: { 'example.com/rack': 'nowhere' } },
      'Unschedulable',
      "didn't match Pod's node affinity/selector",
    ],
    [
      'a setting that Valkey refuses',
      'no-setting',
      { ...small, config: { 'maxmemory-policy': 'as-you-like' } },
      'ConfigRejected',
      'maxmemory-policy',
    ],
    [
      'a setting with a typo',
      'typo',
      { ...small, config: { 'maxmemory-polcy': 'allkeys-lru' } },
      'ConfigRejected',
      'Did you mean maxmemory-policy?',
    ],
  ])('%s', async (_, name, spec, reason, words) => {
    const cluster = new TestCluster(lab, client, namespace, name);
    await cluster.apply(spec);
    const { message } = await cluster.waitForReason('Ready', [reason], 90_000);
    expect(message).toContain(words);
    await cluster.delete();
  });

  test('a StatefulSet of that name that is not its own: it is left as it was', async () => {
    const labels = { app: 'handmade' };
    const container = { name: 'main', image: 'registry.k8s.io/pause:3.10' };
    const handmade = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'handmade', namespace },
      spec: {
        replicas: 0,
        serviceName: 'handmade',
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    };
    await lab.apply(JSON.stringify(handmade));
    const before = await client.get(statefulSets, { namespace, name: 'handmade' });
    const cluster = new TestCluster(lab, client, namespace, 'handmade');
    await cluster.apply(small);
    const { message } = await cluster.waitForReason('Ready', ['NameTaken']);
    expect(message).toContain('StatefulSet');
    expect(await cluster.pods()).toEqual([]);
    await cluster.delete();
    await expect.poll(() => cluster.get().catch(() => 'gone'), { timeout: 60_000 }).toBe('gone');
    expect((await client.get(statefulSets, { namespace, name: 'handmade' }))?.spec).toEqual(before?.spec);
  });
});

describe('meanwhile', () => {
  test('the operator has not been restarted', async () => {
    expect(await operatorLives()).toEqual(operatorBefore);
  });

  test('two clusters of one name in two namespaces know nothing of each other, and are untouched', async () => {
    expect(await bystanderLives()).toEqual(bystandersBefore);
    const ids = await Promise.all(bystanders.map(async (c) => (await c.members()).map(({ self }) => self.id)));
    for (const [index, cluster] of bystanders.entries()) {
      await cluster.waitUntilReady(1000);
      for (const { table } of await cluster.members())
        expect(table.map(({ id }) => id).toSorted()).toEqual(ids[index]!.toSorted());
    }
  });
});
