import { namespaces, pods } from '@valkey-operator/kube';
import { Lab } from '@valkey-operator/lab';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startLoad } from '../load/start-load.ts';
import { createBarePods, findPods, formBareCluster } from '../support/bare-cluster.ts';
import { signalPodProcess } from '../support/pod-processes.ts';

/** The checking client on a Valkey cluster without an operator: what it cannot find there it would not find with one. */
const namespace = 'bare';
const bare = { namespace, name: 'bare', size: 6 };
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const POLL = { timeout: 60_000, interval: 250 };
const load = () => startLoad({ findSeeds: () => findPods(lab, namespace, 'app=bare') });

beforeAll(async () => {
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await createBarePods(lab, bare);
  await formBareCluster(lab, bare);
});
afterAll(() => client.delete(namespaces, { name: namespace }));

describe('the checking client', () => {
  test('finds nothing wrong where nothing is', async () => {
    await using clients = await load();
    const fewest = async () => Math.min(...(await clients.read()).shards.map(({ waited }) => waited));
    await expect.poll(fewest, POLL).toBeGreaterThan(100);
    const { shards } = await clients.stop();
    expect(shards.map(({ slots }) => slots)).toEqual(['0-5460', '5461-10922', '10923-16383']);
    for (const shard of shards)
      expect(shard).toMatchObject({ lost: { plain: 0, waited: 0 }, uncertain: 0, errors: {} });
  });

  test('finds the writes that a primary without persistence loses when it is back at once, though replicas had them', async () => {
    await using clients = await load();
    const [first] = (await clients.read()).shards;
    const written = async () => (await clients.read()).shards[0]!.waited;
    await expect.poll(written, POLL).toBeGreaterThan(100);
    const before = await written();
    signalPodProcess(await podOf(first!.primaryId), 'valkey-server', 'SIGKILL');
    await expect.poll(written, POLL).toBeGreaterThan(before + 100);
    const { shards } = await clients.stop();
    expect(shards[0]!.lost.waited).toBeGreaterThan(50);
    expect(shards[0]!.lostKeys).not.toEqual([]);
    for (const { lost } of shards.slice(1)) expect(lost).toEqual({ plain: 0, waited: 0 });
  });
});

/** The uid of the pod in which a node runs. */
async function podOf(nodeId: string): Promise<string> {
  for (const { metadata } of (await client.list(pods, { namespace })).items) {
    const ask = ['-n', namespace, 'exec', metadata.name, '--', 'valkey-cli', 'CLUSTER', 'MYID'];
    if ((await lab.kubectl(ask)).stdout.trim() === nodeId) return metadata.uid;
  }
  throw new Error(`no pod runs ${nodeId}`);
}
