import { namespaces, persistentVolumeClaims } from '@valkey-operator/kube';
import { Lab } from '@valkey-operator/lab';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { call, createRestrictedNamespace, TestCluster } from '../support/test-cluster.ts';

/** A deleted cluster leaves what its deletionPolicy says, and nothing stands in the way (D3). */
const namespace = 'delete';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const POLL = { timeout: 90_000, interval: 500 };
const spec = { replicasPerMaster: 0, pvc: { storageSize: '50Mi' } } as const;

beforeAll(() => createRestrictedNamespace(lab, namespace));
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false', '--ignore-not-found']));

async function listClaims(): Promise<string[]> {
  return (await client.list(persistentVolumeClaims, { namespace })).items.map(({ metadata }) => metadata.name);
}

async function expectGone(cluster: TestCluster): Promise<void> {
  await expect.poll(() => cluster.get().catch(() => 'gone'), POLL).toBe('gone');
  const kinds = 'statefulset,pod,service,configmap,secret,poddisruptionbudget,networkpolicy,serviceaccount';
  const left = async () =>
    (await lab.kubectl(['-n', namespace, 'get', kinds, '-l', `valkey.io/cr=${cluster.name}`, '-o', 'name'])).stdout;
  await expect.poll(left, POLL).toBe('');
}

describe('a deleted cluster', () => {
  const cluster = new TestCluster(lab, client, namespace, 'kept');
  const key = 'kept-over-death';

  test('keeps its volumes when its policy is Retain', async () => {
    await cluster.apply({ ...spec, deletionPolicy: 'Retain' });
    await cluster.waitUntilReady();
    for (const { ip } of await cluster.primaries()) await call(ip, ['SET', key, 'value']).catch(() => {});
    await cluster.delete();
    await expectGone(cluster);
    expect(await listClaims()).toHaveLength(3);
  });

  test('finds its data again when it is made anew', async () => {
    await cluster.apply({ ...spec, deletionPolicy: 'Delete' });
    await cluster.waitUntilReady();
    const answers = await Promise.all(
      (await cluster.primaries()).map(({ ip }) => call(ip, ['GET', key]).catch(() => null)),
    );
    expect(answers).toContain('value');
  });

  test('takes its volumes along when its policy is Delete', async () => {
    expect(await listClaims()).toHaveLength(3);
    await cluster.delete();
    await expectGone(cluster);
    await expect.poll(listClaims, POLL).toEqual([]);
  });
});

describe('a namespace', () => {
  test('can be deleted with a cluster in it', async () => {
    const cluster = new TestCluster(lab, client, namespace, 'swept');
    await cluster.apply(spec);
    await cluster.waitUntilReady();
    await client.delete(namespaces, { name: namespace });
    await expect.poll(() => client.get(namespaces, { name: namespace }), POLL).toBeUndefined();
  });
});
