import { isDeepStrictEqual } from 'node:util';
import { Lab, startNode, stopNode } from '@valkey-operator/lab';
import { pods } from '@valkey-operator/kube';
import { expectArray, expectText, keySlot } from '@valkey-operator/valkey';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createBarePods, findPods } from '../support/bare-cluster.ts';
import { signalPodProcess } from '../support/pod-processes.ts';
import { call, createRestrictedNamespace, type Member, TestCluster } from '../support/test-cluster.ts';
import { type Outcome, underLoad } from '../support/under-load.ts';
import { loseFiles, VALKEY } from './support/data-directory.ts';

/** Every single fault of C7 under load: no write is lost that its replica had confirmed (I1). */
const namespace = 'healing';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();

/** A replica waits between 0.5 and 1 s before it stands for election, and once more when its first try finds no majority. */
const ELECTION_MS = 1000;
/**
 * faults.md F: cluster-node-timeout + 3.5 s, the time that Valkey needs to agree and to elect, an unlucky election, and what
 * this machine adds. The benchmark unplanned-failover holds us to what a bare cluster needs.
 */
const failoverMs = ({ noiseMs }: Outcome) => 5000 + 3500 + ELECTION_MS + 2 * noiseMs;
const POLL = { timeout: 60_000, interval: 200 };

beforeAll(() => createRestrictedNamespace(lab, namespace));
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false']));

/** What every test ends with: Ready, and soon everybody knows everybody, and nobody who does not exist. */
async function expectHealed(cluster: TestCluster): Promise<void> {
  await cluster.waitUntilReady();
  const tables = async () => {
    const members = await cluster.members();
    const ids = members.map(({ self }) => self.id).toSorted();
    return {
      nodes: ids.length,
      unlike: members.filter(({ table }) => !isDeepStrictEqual(table.map(({ id }) => id).toSorted(), ids)),
    };
  };
  await expect.poll(tables, { ...POLL, timeout: 30_000 }).toEqual({ nodes: 6, unlike: [] });
}

const isPrimary = async (ip: string) => (await roleOf(ip).catch(() => 'silent')) === 'master';
const roleOf = async (ip: string) => expectArray(await call(ip, ['ROLE']))[0];
const clusterInfo = async (ip: string) => expectText(await call(ip, ['CLUSTER', 'INFO']));

describe('a cluster with a disk in memory only', () => {
  const cluster = new TestCluster(lab, client, namespace, 'fleeting');

  beforeAll(async () => {
    await cluster.apply({ backup: { database: { enabled: false }, aof: { enabled: false } } });
    await cluster.waitUntilReady();
  });
  afterAll(() => cluster.delete());

  // First, while every node has one primary, as birth places them: a node with two would take the quorum along.
  test('a node dies with a primary, and comes back', async () => {
    const operatorNodes = (await client.list(pods, { namespace: 'valkey-system' })).items.map(
      ({ spec }) => spec?.nodeName,
    );
    const onNode = Map.groupBy(await cluster.primaries(), ({ kubernetesNode }) => kubernetesNode);
    const [node, [primary]] = [...onNode].find(([name, all]) => all.length === 1 && !operatorNodes.includes(name))!;
    const replica = await cluster.replicaOf(primary!);
    const outcome = await underLoad(cluster, {
      fault: () => stopNode(lab, node),
      heal: async () => {
        try {
          await expect.poll(() => isPrimary(replica.ip), POLL).toBe(true);
          const { message } = await cluster.waitForReason('Degraded', ['NodeUnreachable', 'ReplicaMissing']);
          // Whichever is seen first: the pod that is silent, or the shard that lacks a replica since.
          expect(message).toMatch(new RegExp(`${primary!.pod}|${replica.pod}`));
        } finally {
          await startNode(lab, node);
        }
        await expectHealed(cluster);
      },
    });
    expect(outcome.gapMs).toBeLessThan(failoverMs(outcome));
  });

  test('a primary that is killed and back at once does not wipe its replica (fault 8)', async () => {
    const outcome = await killPrimary(cluster);
    expect(outcome.gapMs).toBeLessThan(failoverMs(outcome));
    expect(await cluster.eventReasons()).toContain('FailedOver');
  });

  test('a primary pod is deleted by force', async () => {
    const [primary] = await cluster.primaries();
    const outcome = await underLoad(cluster, {
      fault: async () => {
        await client.delete(pods, { namespace, name: primary!.pod }, { gracePeriodSeconds: 0, uid: primary!.podUid });
      },
      heal: async () => {
        await expectReplaced(cluster, [primary!]);
        await expectHealed(cluster);
      },
    });
    expect(outcome.gapMs).toBeLessThan(failoverMs(outcome));
  });

  test('a primary pod is deleted, and hands over before it goes', async () => {
    const [primary] = await cluster.primaries();
    const { gapMs, noiseMs } = await underLoad(cluster, {
      fault: async () => {
        await client.delete(pods, { namespace, name: primary!.pod });
      },
      heal: async () => {
        await expectReplaced(cluster, [primary!]);
        await expectHealed(cluster);
      },
    });
    expect(gapMs).toBeLessThan(1500 + 2 * noiseMs);
  });

  test('a replica loses its data directory', async () => {
    const replica = await cluster.replicaOf((await cluster.primaries())[0]!);
    await underLoad(cluster, {
      fault: async () => loseFiles(replica, () => true),
      heal: async () => {
        await expect.poll(() => roleOf(replica.ip).catch(() => 'silent'), POLL).toBe('slave');
        await expectHealed(cluster);
      },
    });
  });

  test('a replica is put on the wrong shard', async () => {
    const [first, second] = await cluster.primaries();
    const replica = await cluster.replicaOf(first!);
    await underLoad(cluster, {
      fault: async () => {
        await call(replica.ip, ['CLUSTER', 'REPLICATE', second!.self.id]);
        await expect.poll(async () => (await cluster.replicaOf(second!)).pod, POLL).toBeDefined();
      },
      heal: async () => {
        await expect.poll(async () => replicaCounts(cluster), POLL).toEqual([1, 1, 1]);
        await expectHealed(cluster);
      },
    });
  });

  test('slots lose their owner, and go back to whoever has their keys', async () => {
    const [primary, other] = (await cluster.primaries()).toSorted((a, b) => b.self.slots.count - a.self.slots.count);
    const full = `${await layInKey(primary!)}`;
    const slots = [...(await emptySlots(primary!, 2)), full];
    await underLoad(cluster, {
      fault: async () => {
        for (const { ip } of await cluster.members()) await call(ip, ['CLUSTER', 'DELSLOTS', ...slots]);
        expect(await clusterInfo(primary!.ip)).toContain('cluster_slots_assigned:16381');
        // As after a failover in mid-move: the one that has the keys takes somebody else for the owner.
        await call(primary!.ip, ['CLUSTER', 'SETSLOT', full, 'NODE', other!.self.id]);
      },
      heal: async () => {
        // Long before the next heartbeat: the sidecars tell at once that somebody changed their table.
        const soon = { ...POLL, timeout: 15_000 };
        await expect.poll(() => clusterInfo(primary!.ip), soon).toContain('cluster_slots_assigned:16384');
        await expectHealed(cluster);
      },
    });
    expect(await readKey(cluster)).toBe('kept');
  });

  // As when Valkey dies in the moment in which it got the slot: its replica has the keys, but has not heard of it.
  test('a slot goes to the replica that took over, also while the one that owned it waits at its start gate', async () => {
    const [primary] = await cluster.primaries();
    const slot = `${await layInKey(primary!)}`;
    const heir = await cluster.replicaOf(primary!);
    await underLoad(cluster, {
      fault: async () => {
        signalPodProcess(primary!.podUid, VALKEY, 'SIGSTOP');
        await expect.poll(() => isPrimary(heir.ip), POLL).toBe(true);
        for (const { ip } of await cluster.members()) await call(ip, ['CLUSTER', 'DELSLOTS', slot]);
        signalPodProcess(primary!.podUid, VALKEY, 'SIGKILL');
      },
      heal: () => expectHealed(cluster),
    });
    expect(await readKey(cluster)).toBe('kept');
  });

  test('a node is forgotten by the others', async () => {
    const replica = await cluster.replicaOf((await cluster.primaries())[0]!);
    await underLoad(cluster, {
      fault: async () => {
        await call(replica.ip, ['CLUSTER', 'RESET', 'HARD']);
        await expect.poll(async () => replicaCounts(cluster), POLL).not.toEqual([1, 1, 1]);
      },
      heal: () => expectHealed(cluster),
    });
  });

  test('a node that is not of this cluster gets into its table', async () => {
    await createBarePods(lab, { namespace, name: 'stranger', size: 1 });
    const [stranger] = await findPods(lab, namespace, 'app=stranger');
    const [primary] = await cluster.primaries();
    const known = async () =>
      (await cluster.members()).some(({ table }) => table.some(({ ip }) => ip === stranger!.host));
    await underLoad(cluster, {
      fault: async () => {
        await call(primary!.ip, ['CLUSTER', 'MEET', stranger!.host, '6379']);
        await expect.poll(known, { ...POLL, interval: 20 }).toBe(true);
      },
      heal: async () => {
        await expect.poll(known, POLL).toBe(false);
        await expectHealed(cluster);
      },
    });
    expect(await cluster.eventReasons()).toContain('ForeignNode');
    await lab.kubectl(['-n', namespace, 'delete', 'statefulset', 'stranger']);
  });

  test('two of three primaries are gone: nothing is done without a person, who then says what to do', async () => {
    const lost = (await cluster.primaries()).slice(0, 2);
    const replicas = await Promise.all(lost.map((primary) => cluster.replicaOf(primary)));
    await underLoad(cluster, {
      fault: async () => {
        for (const { podUid } of lost) signalPodProcess(podUid, VALKEY, 'SIGSTOP');
        const { message } = await cluster.waitForReason('Degraded', ['QuorumLost']);
        expect(message).toContain('valkey.io/force-takeover');
        for (const { ip } of replicas) expect(await isPrimary(ip)).toBe(false);
      },
      heal: async () => {
        await cluster.annotate({ 'valkey.io/force-takeover': 'true' });
        for (const { ip } of replicas) await expect.poll(() => isPrimary(ip), POLL).toBe(true);
        for (const { podUid } of lost) signalPodProcess(podUid, VALKEY, 'SIGCONT');
        await expectHealed(cluster);
      },
    });
    await cluster.annotate({ 'valkey.io/force-takeover': null });
  });
});

describe('a cluster with volumes', () => {
  const cluster = new TestCluster(lab, client, namespace, 'lasting');

  beforeAll(async () => {
    await cluster.apply({ pvc: { storageSize: '100Mi' }, deletionPolicy: 'Delete' });
    await cluster.waitUntilReady();
  });
  afterAll(() => cluster.delete());

  test('all its pods are deleted at once and come back with other addresses', async () => {
    const before = await cluster.members();
    await underLoad(cluster, {
      fault: async () => {
        await Promise.all(before.map(({ pod }) => client.delete(pods, { namespace, name: pod })));
      },
      heal: async () => {
        await expectReplaced(cluster, before);
        await expectHealed(cluster);
      },
    });
    const after = await cluster.members();
    expect(after.map(({ self }) => self.id).toSorted()).toEqual(before.map(({ self }) => self.id).toSorted());
    expect(after.filter(({ ip }) => before.some((old) => old.ip === ip))).toEqual([]);
  });

  test('a primary is killed', async () => {
    const outcome = await killPrimary(cluster);
    expect(outcome.gapMs).toBeLessThan(failoverMs(outcome));
  });

  test('a primary loses nodes.conf', async () => {
    const [primary] = await cluster.primaries();
    await underLoad(cluster, {
      fault: async () => loseFiles(primary!, (name) => name === 'nodes.conf'),
      heal: async () => {
        await expect
          .poll(async () => (await cluster.members()).some(({ self }) => self.id === primary!.self.id), POLL)
          .toBe(false);
        await expectHealed(cluster);
      },
    });
  });

  test('a primary loses its data directory', async () => {
    const [primary] = await cluster.primaries();
    const replica = await cluster.replicaOf(primary!);
    await underLoad(cluster, {
      fault: async () => loseFiles(primary!, () => true),
      heal: async () => {
        await expect.poll(() => isPrimary(replica.ip), POLL).toBe(true);
        await expectHealed(cluster);
      },
    });
  });
});

/** The process of a primary is killed under load, its replica takes over, and the cluster is whole again. */
async function killPrimary(cluster: TestCluster): Promise<Outcome> {
  const [primary] = await cluster.primaries();
  const replica = await cluster.replicaOf(primary!);
  return underLoad(cluster, {
    fault: async () => signalPodProcess(primary!.podUid, VALKEY, 'SIGKILL'),
    heal: async () => {
      await expect.poll(() => isPrimary(replica.ip), POLL).toBe(true);
      await expectHealed(cluster);
    },
  });
}

/** Other pods of the same names run. */
async function expectReplaced(cluster: TestCluster, gone: Member[]): Promise<void> {
  const uids = new Set(gone.map(({ podUid }) => podUid));
  const left = async () => (await cluster.pods()).filter(({ metadata }) => uids.has(metadata.uid!)).length;
  await expect.poll(left, { ...POLL, timeout: 90_000 }).toBe(0);
}

async function replicaCounts(cluster: TestCluster): Promise<number[]> {
  const members = await cluster.members();
  const primaries = members.filter(({ self }) => self.role === 'primary' && !self.slots.isEmpty);
  return primaries.map(({ self }) => members.filter((member) => member.self.primaryId === self.id).length);
}

const KEYS = Array.from({ length: 100 }, (_, number) => `kept:${number}`);

/** A key in one of its slots, which is told. */
async function layInKey({ ip, self }: Member): Promise<number> {
  const key = KEYS.find((name) => self.slots.has(keySlot(name)))!;
  await call(ip, ['SET', key, 'kept']);
  return keySlot(key);
}

/** Takes it away, so that the next test finds none. */
async function readKey(cluster: TestCluster): Promise<string> {
  const owners = await cluster.primaries();
  const found = await Promise.all(
    KEYS.map(async (key) => {
      const owner = owners.find(({ self }) => self.slots.has(keySlot(key)));
      return owner ? call(owner.ip, ['GETDEL', key]) : null;
    }),
  );
  return found.filter((value) => typeof value === 'string').join();
}

/** Slots of a primary without keys: to take them away loses nothing. */
async function emptySlots({ ip, self }: Member, count: number): Promise<string[]> {
  const empty: string[] = [];
  for (const slot of self.slots) {
    if ((await call(ip, ['CLUSTER', 'COUNTKEYSINSLOT', `${slot}`])) === 0) empty.push(`${slot}`);
    if (empty.length === count) return empty;
  }
  throw new Error(`${ip} has no ${count} empty slots`);
}
