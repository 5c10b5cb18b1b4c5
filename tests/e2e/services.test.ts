import { services } from '@valkey-operator/kube';
import { Lab } from '@valkey-operator/lab';
import { expectArray, expectText, type RespValue } from '@valkey-operator/valkey';
import { connect } from '@valkey-operator/valkey/connection';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { call, createRestrictedNamespace, TestCluster } from '../support/test-cluster.ts';

/** How clients reach a cluster (C13), and volumes that grow (C10). */
const namespace = 'services';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const POLL = { timeout: 60_000, interval: 250 };
const cluster = new TestCluster(lab, client, namespace, 'doors');
const volume = { pvc: { storageSize: '64Mi' } };

async function lives(): Promise<unknown[]> {
  return (await cluster.pods()).map(({ metadata, status }) => [
    metadata.uid,
    status?.containerStatuses?.map(({ restartCount }) => restartCount),
  ]);
}

async function serviceNames(): Promise<string[]> {
  const { items } = await client.list(services, { namespace });
  return items.map(({ metadata }) => metadata.name).toSorted();
}

const nameOf = (node: RespValue) => expectArray(node).slice(0, 2).map(String).join(':');

/** Where CLUSTER SLOTS sends a client, as host:port. */
async function announced(ip: string): Promise<string[]> {
  const ranges = expectArray(await call(ip, ['CLUSTER', 'SLOTS'])).map((range) => expectArray(range).slice(2));
  return ranges.flatMap((nodes) => nodes.map(nameOf)).toSorted();
}

/** Those that have slots: the first of each range. */
async function announcedPrimaries(ip: string): Promise<string[]> {
  const ranges = expectArray(await call(ip, ['CLUSTER', 'SLOTS'])).map((range) => expectArray(range)[2]!);
  return [...new Set(ranges.map(nameOf))];
}

async function ask(address: string, args: string[]): Promise<RespValue> {
  const [host = '', port] = address.split(':');
  using connection = await connect({ address: { host, port: Number(port) }, timeoutMs: 2000 });
  return await connection.call(args, { timeoutMs: 2000 });
}

const words = ({ stdout }: { readonly stdout: string }) => stdout.trim().split(' ');
const anyPod = async () => (await cluster.members())[0]!.ip;
const atRest = () => cluster.waitForReason('Progressing', ['Healthy']);
const podAddresses = async () => (await cluster.pods()).map(({ status }) => `${status?.podIP}:6379`).toSorted();
let livesBefore: unknown;

beforeAll(async () => {
  await createRestrictedNamespace(lab, namespace);
  await cluster.apply(volume);
  await cluster.waitUntilReady();
  livesBefore = await lives();
});
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false']));

describe('clients', () => {
  test('reach replicas, and only those, by the Service for reading', async () => {
    await cluster.apply({ ...volume, services: { read: { enabled: true } } });
    await expect.poll(serviceNames, POLL).toEqual(['doors', 'doors-headless', 'doors-read']);
    const replicas = (await cluster.members()).filter(({ self }) => self.role === 'replica').map(({ pod }) => pod);
    const targets = async () => {
      const path = 'jsonpath={.items[*].endpoints[*].targetRef.name}';
      const ofService = ['-n', namespace, '-l', 'kubernetes.io/service-name=doors-read'];
      return words(await lab.kubectl(['get', 'endpointslices', ...ofService, '-o', path])).toSorted();
    };
    await expect.poll(targets, POLL).toEqual(replicas.toSorted());
  });

  test('reach every node from outside by its port on a node of Kubernetes, and are sent on there', async () => {
    const ip = await anyPod();
    await cluster.apply({ ...volume, services: { external: { enabled: true, type: 'NodePort' } } });
    await atRest();
    // A replica that is just suspected is not told for a moment.
    const outside = async () => (await announced(ip)).filter((each) => !each.endsWith(':6379'));
    await expect.poll(async () => (await outside()).length, POLL).toBe(6);
    const addresses = await outside();
    // kube-proxy takes its time to lay the way to a new Service.
    const answering = async () => {
      const ids = addresses.map(async (address) => expectText(await ask(address, ['CLUSTER', 'MYID'])));
      return new Set(await Promise.all(ids.map((id) => id.catch(String))));
    };
    await expect.poll(answering, POLL).toEqual(new Set((await cluster.members()).map(({ self }) => self.id)));
    // Each node hears from each other where clients find it.
    const sentTo = async () => {
      const refusals = await Promise.all(addresses.map((address) => ask(address, ['GET', 'x']).catch(String)));
      return new Set(refusals.flatMap((words) => /MOVED \d+ ([^\s"]+)/.exec(JSON.stringify(words))?.[1] ?? []));
    };
    const isOutside = (address: string) => addresses.includes(address);
    await expect.poll(async () => [...(await sentTo())].map(isOutside), POLL).toEqual([true]);
    expect(await lives()).toEqual(livesBefore);
  });

  test('reach a new shard from outside from its first slot on', async () => {
    const growing = new TestCluster(lab, client, namespace, 'gates');
    const external = { services: { external: { enabled: true, type: 'NodePort' } } } as const;
    await growing.apply(external);
    await growing.waitUntilReady();
    const [first] = await growing.primaries();
    const inside = async () => (await announcedPrimaries(first!.ip)).filter((each) => each.endsWith(':6379'));
    await expect.poll(inside, POLL).toEqual([]);
    await growing.apply({ ...external, masterCount: 4 });
    const owners = new Set<string>();
    const lost: string[] = [];
    const follow = async () => {
      for (const address of await announcedPrimaries(first!.ip)) {
        owners.add(address);
        await ask(address, ['PING']).catch((error: unknown) => lost.push(`${address}: ${String(error)}`));
      }
      return owners.size;
    };
    await expect.poll(follow, { ...POLL, interval: 50 }).toBe(4);
    for (const until = Date.now() + 3000; Date.now() < until;) await follow();
    expect(lost).toEqual([]);
    expect([...owners].filter((address) => address.endsWith(':6379'))).toEqual([]);
    await growing.waitForShards(4);
    await growing.delete();
  });

  test('are sent to a load balancer once it has an address', async () => {
    // The lab has no load balancer: its part, writing the address into the status, is done by hand.
    const ip = await anyPod();
    await cluster.apply({ ...volume, services: { external: { enabled: true, type: 'LoadBalancer' } } });
    const ref = { namespace, name: 'doors-1-external' };
    await expect.poll(async () => (await client.get(services, ref))?.spec?.type, POLL).toBe('LoadBalancer');
    const status = { loadBalancer: { ingress: [{ ip: '203.0.113.7' }] } };
    await client.mergePatch(services, ref, { status }, { subresource: 'status' });
    await expect.poll(() => announced(ip), POLL).toContain('203.0.113.7:6379');
    await atRest();
    await cluster.waitUntilReady();
  });

  test('are sent to pods again when external access is turned off', async () => {
    const ip = await anyPod();
    await cluster.apply(volume);
    await expect.poll(serviceNames, POLL).toEqual(['doors', 'doors-headless']);
    await expect.poll(() => announced(ip), POLL).toEqual(await podAddresses());
    await atRest();
    expect(await lives()).toEqual(livesBefore);
  });
});

describe('volumes', () => {
  const sizes = async () => {
    const path = 'jsonpath={.items[*].status.capacity.storage}';
    return words(await lab.kubectl(['get', 'pvc', '-n', namespace, '-o', path]));
  };

  test('grow without a restart', async () => {
    await cluster.apply({ pvc: { storageSize: '96Mi' } });
    await expect.poll(sizes, POLL).toEqual(Array.from({ length: 6 }, () => '96Mi'));
    await atRest();
    expect(await lives()).toEqual(livesBefore);
  });

  test('of pods that are not wanted any more stay, or go, by the deletion policy', async () => {
    const lone = { pvc: { storageSize: '96Mi' }, replicasPerMaster: 0 };
    await cluster.apply(lone);
    await expect.poll(async () => (await cluster.pods()).length, POLL).toBe(3);
    await cluster.waitUntilAtRest();
    expect(await sizes()).toHaveLength(6);
    await cluster.apply({ ...lone, deletionPolicy: 'Delete' });
    await expect.poll(async () => (await sizes()).length, POLL).toBe(3);
    await cluster.waitUntilReady();
  });

  test('never shrink', async () => {
    await expect(cluster.apply({ pvc: { storageSize: '64Mi' } })).rejects.toThrow(
      'must not shrink: a volume can only grow; restore a backup into a new deployment to use smaller volumes',
    );
  });
});
