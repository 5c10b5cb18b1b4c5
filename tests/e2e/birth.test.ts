import { readFixtures } from '@valkey-operator/api/fixtures';
import { nodes } from '@valkey-operator/kube';
import { Lab } from '@valkey-operator/lab';
import { SLOT_COUNT } from '@valkey-operator/valkey';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { call, createRestrictedNamespace, type Member, TestCluster } from '../support/test-cluster.ts';

/** From nothing to a cluster that serves (C1, D1), in a namespace that takes restricted pods only. */
const namespace = 'birth';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const kubectl = async (...args: string[]) => (await lab.kubectl(['-n', namespace, ...args])).stdout;

beforeAll(() => createRestrictedNamespace(lab, namespace));
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false']));

/** Every slot has one primary, and every primary the given number of replicas with their link up. */
async function expectWhole(cluster: TestCluster, replicas: number): Promise<Member[]> {
  const members = await cluster.members();
  const primaries = members.filter(({ self }) => self.role === 'primary');
  expect(primaries.reduce((sum, { self }) => sum + self.slots.count, 0)).toBe(SLOT_COUNT);
  for (const { self } of primaries) {
    const followers = members.filter((member) => member.self.primaryId === self.id);
    expect(followers).toHaveLength(replicas);
    for (const { ip } of followers) expect(await call(ip, ['INFO', 'replication'])).toContain('master_link_status:up');
  }
  // The last introductions travel by gossip, which a cluster that serves everything may still be waiting for.
  const tables = async () => (await cluster.members()).map(({ table }) => table.map(({ id }) => id).toSorted());
  await expect.poll(tables, { timeout: 30_000, interval: 500 }).toEqual(members.map(() => idsOf(members)));
  return members;
}

const idsOf = (members: Member[]) => members.map(({ self }) => self.id).toSorted();

describe('the ten-line sample', () => {
  const cluster = new TestCluster(lab, client, namespace, 'demo');
  const [sample] = readFixtures('ValkeyCluster/minimal.yaml');

  beforeAll(async () => {
    expect(sample!.text.trim().split('\n').length).toBeLessThanOrEqual(10);
    await kubectl('apply', '-f', 'packages/api/fixtures/ValkeyCluster/minimal.yaml');
    await cluster.waitUntilReady();
  });

  test('shows a whole cluster in every column', async () => {
    const [header, row] = (await kubectl('get', 'vc', 'demo')).split('\n');
    expect(header).toMatch(/^NAME +READY +PHASE +MASTERS +REPLICAS +SLOTS +OPERATION +VERSION +AGE$/);
    expect(row).toMatch(/^demo +True +Running +3\/3 +3\/3 +16384 +9\.1\.\d+ +\d+\w+$/);
  });

  test('serves every slot, and every node knows every other', async () => {
    expect(await expectWhole(cluster, 1)).toHaveLength(6);
  });

  test('keeps the members of a shard, and the primaries, on different nodes', async () => {
    const members = await cluster.members();
    const primaries = members.filter(({ self }) => self.role === 'primary');
    expect(new Set(primaries.map(({ kubernetesNode }) => kubernetesNode)).size).toBe(3);
    for (const replica of members.filter(({ self }) => self.role === 'replica')) {
      const primary = members.find(({ self }) => self.id === replica.self.primaryId)!;
      expect(replica.kubernetesNode).not.toBe(primary.kubernetesNode);
    }
  });

  test('tells clients in which zone each node is, so that they can read from the nearest', async () => {
    const { items } = await client.list(nodes, {});
    for (const { ip, kubernetesNode } of await cluster.members()) {
      const labels = items.find(({ metadata }) => metadata.name === kubernetesNode)!.metadata.labels;
      const zone = labels?.['topology.kubernetes.io/zone'];
      expect(await call(ip, ['INFO', 'server'])).toContain(`availability_zone:${zone}\r`);
    }
  });

  test('says in labels which pod is what', async () => {
    const said = Object.fromEntries((await cluster.pods()).map(({ metadata: { name, labels } }) => [name, labels]));
    for (const { pod, self } of await cluster.members())
      expect(said[pod]).toMatchObject({ 'valkey.io/cr': 'demo', 'valkey.io/role': self.role });
    const shards = Object.values(said).map((labels) => labels?.['valkey.io/shard']);
    expect(new Set(shards).size).toBe(3);
  });

  test('owns everything it made, and everything says whose it is', async () => {
    const kinds = [
      'statefulset',
      'service',
      'configmap',
      'secret',
      'poddisruptionbudget',
      'networkpolicy',
      'serviceaccount',
      'valkeyclusterstatus',
    ];
    const { items } = JSON.parse(await kubectl('get', kinds.join(','), '-l', 'valkey.io/cr=demo', '-o', 'json')) as {
      items: { kind: string; metadata: Record<string, unknown> }[];
    };
    const made = new Set(items.map(({ kind }) => kind.toLowerCase()));
    expect(kinds.filter((kind) => !made.has(kind))).toEqual([]);
    const { metadata } = await cluster.get();
    for (const item of items) {
      expect(item.metadata).toMatchObject({
        labels: { 'valkey.io/cr': 'demo', 'app.kubernetes.io/managed-by': 'valkey-operator' },
        annotations: { 'valkey.io/cr': 'demo', 'valkey.io/locked': 'true' },
        ownerReferences: [{ kind: 'ValkeyCluster', name: 'demo', uid: metadata.uid, controller: true }],
      });
    }
  });

  test('is reached by the name of its Service', async () => {
    const answer = await kubectl(
      'exec',
      'demo-0',
      '-c',
      'valkey',
      '--',
      'valkey-cli',
      '-c',
      '-h',
      'demo',
      'SET',
      'k',
      'v',
    );
    expect(answer.trim()).toBe('OK');
  });

  test('tells the details of every node and shard in its status object', async () => {
    const { status } = JSON.parse(await kubectl('get', 'valkeyclusterstatus', 'demo-status', '-o', 'json')) as {
      status: { nodes: { nodeId: string }[]; shards: unknown[] };
    };
    expect(status.nodes.map(({ nodeId }) => nodeId).toSorted()).toEqual(idsOf(await cluster.members()));
    expect(status.shards).toHaveLength(3);
  });

  test('is told to people once, and nothing warns them', async () => {
    const told = await cluster.events();
    expect(told.filter(({ reason }) => reason === 'ClusterFormed')).toHaveLength(1);
    expect(told.filter(({ type }) => type !== 'Normal')).toEqual([]);
  });

  afterAll(() => cluster.delete());
});

describe.each(['8.0', '8.1'])('Valkey %s', (tag) => {
  const cluster = new TestCluster(lab, client, namespace, `v${tag.replace('.', '-')}`);

  test('is born as well', async () => {
    await cluster.apply({ valkeyImage: { name: 'docker.io/valkey/valkey', tag } });
    await cluster.waitUntilReady();
    expect((await cluster.get()).status?.version).toMatch(new RegExp(`^${tag.replace('.', '\\.')}\\.`));
    await expectWhole(cluster, 1);
  });

  afterAll(() => cluster.delete());
});

describe('a cluster without replicas', () => {
  const cluster = new TestCluster(lab, client, namespace, 'bare');

  test('is born, and is whole', async () => {
    await cluster.apply({ replicasPerMaster: 0 });
    await cluster.waitUntilReady();
    expect(await expectWhole(cluster, 0)).toHaveLength(3);
  });

  afterAll(() => cluster.delete());
});
