import { Lab } from '@valkey-operator/lab';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { call, createRestrictedNamespace, type Member, TestCluster } from '../support/test-cluster.ts';
import { underLoad } from '../support/under-load.ts';

/** Replicas come and go under load (C3). */
const namespace = 'replicas';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const POLL = { timeout: 60_000, interval: 250 };
const cluster = new TestCluster(lab, client, namespace, 'tide');
const ordinal = ({ pod }: Member) => Number(pod.split('-').at(-1));

beforeAll(async () => {
  await createRestrictedNamespace(lab, namespace);
  await cluster.apply({ replicasPerMaster: 0 });
  await cluster.waitUntilReady();
});
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false']));

describe('the number of replicas', () => {
  test('goes up: each shard gets one, on another node than its primary', async () => {
    const { gapMs, noiseMs } = await underLoad(cluster, {
      waits: false,
      fault: () => cluster.apply({ replicasPerMaster: 1 }),
      heal: () => cluster.waitUntilReady(),
    });
    expect(gapMs).toBeLessThan(500 + 2 * noiseMs);
    const members = await cluster.members();
    expect(members).toHaveLength(6);
    for (const primary of members.filter(({ self }) => self.role === 'primary')) {
      const replicas = members.filter(({ self }) => self.primaryId === primary.self.id);
      expect(replicas).toHaveLength(1);
      expect(replicas[0]!.kubernetesNode).not.toBe(primary.kubernetesNode);
    }
  });

  test('is made good where a shard has two members on one node', async () => {
    const [first, second] = await misplaceReplicas();
    await underLoad(cluster, {
      fault: async () => {
        await call(first.ip, ['CLUSTER', 'REPLICATE', second.self.primaryId!]);
        await call(second.ip, ['CLUSTER', 'REPLICATE', first.self.primaryId!]);
      },
      heal: async () => {
        await expect.poll(sharedNodes, POLL).toEqual([]);
        await cluster.waitUntilReady();
      },
    });
    expect(await sharedNodes()).toEqual([]);
  });

  test('leaves primaries where they are, unless the spec wants them spread over the nodes', async () => {
    const nodes = async () => new Set((await cluster.primaries()).map(({ kubernetesNode }) => kubernetesNode)).size;
    const primaries = await cluster.primaries();
    const heir = (await cluster.members()).find(
      ({ self, kubernetesNode }) =>
        self.role === 'replica' &&
        primaries.some((other) => other.self.id !== self.primaryId && other.kubernetesNode === kubernetesNode),
    )!;
    const { gapMs, noiseMs } = await underLoad(cluster, {
      fault: async () => {
        await call(heir.ip, ['CLUSTER', 'FAILOVER']);
        await expect.poll(nodes, POLL).toBe(2);
        await cluster.waitUntilAtRest();
        expect(await nodes()).toBe(2);
        await cluster.apply({ replicasPerMaster: 1, rebalancePrimaries: true });
      },
      heal: async () => {
        await expect.poll(nodes, POLL).toBe(3);
        await cluster.waitUntilAtRest();
      },
    });
    expect(gapMs).toBeLessThan(1000 + 2 * noiseMs);
  });

  test('goes down: primaries on pods that go hand over first, and nobody remembers the gone', async () => {
    for (const replica of (await cluster.members()).filter(({ self }) => self.role === 'replica'))
      if (ordinal(replica) >= 3) await call(replica.ip, ['CLUSTER', 'FAILOVER']);
    await expect
      .poll(async () => (await cluster.primaries()).some((primary) => ordinal(primary) >= 3), POLL)
      .toBe(true);
    const { gapMs, noiseMs } = await underLoad(cluster, {
      fault: () => cluster.apply({ replicasPerMaster: 0 }),
      heal: async () => {
        await expect.poll(async () => (await cluster.pods()).length, POLL).toBe(3);
        await cluster.waitUntilReady();
      },
    });
    expect(gapMs).toBeLessThan(500 + 2 * noiseMs);
    for (const { table } of await cluster.members()) expect(table).toHaveLength(3);
  });
});

/** Two replicas that would share a node with their primary if they changed shards. */
async function misplaceReplicas(): Promise<[Member, Member]> {
  const members = await cluster.members();
  const nodeOf = (id: string) => members.find(({ self }) => self.id === id)!.kubernetesNode;
  const replicas = members.filter(({ self }) => self.role === 'replica');
  for (const first of replicas)
    for (const second of replicas)
      if (first !== second && first.kubernetesNode === nodeOf(second.self.primaryId!)) return [first, second];
  throw new Error('no two replicas can be misplaced');
}

/** Shards with two members on one node, by the id of their primary. */
async function sharedNodes(): Promise<string[]> {
  const members = await cluster.members();
  return members
    .filter(({ self, kubernetesNode }) =>
      members.some((primary) => primary.self.id === self.primaryId && primary.kubernetesNode === kubernetesNode),
    )
    .map(({ self }) => self.primaryId!);
}
