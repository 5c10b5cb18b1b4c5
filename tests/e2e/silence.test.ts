import { healPartition, Lab, partitionNode, run } from '@valkey-operator/lab';
import { pods } from '@valkey-operator/kube';
import { keySlot } from '@valkey-operator/valkey';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { findPodProcesses, signalPodProcess } from '../support/pod-processes.ts';
import { createRestrictedNamespace, type Member, TestCluster } from '../support/test-cluster.ts';
import { underLoad } from '../support/under-load.ts';
import { VALKEY } from './support/data-directory.ts';

/** Who says nothing is not dead: a frozen sidecar (faults.md 29) and a node that is cut off (faults.md 33). */
const namespace = 'silence';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const cluster = new TestCluster(lab, client, namespace, 'mute');
const POLL = { timeout: 90_000, interval: 250 };

beforeAll(async () => {
  await createRestrictedNamespace(lab, namespace);
  await cluster.apply({});
  await cluster.waitUntilReady();
});
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false']));

const valkeyOf = ({ podUid }: Member) => findPodProcesses(podUid, VALKEY);
const sidecarOf = ({ podUid }: Member) => findPodProcesses(podUid, 'node');
const isReady = async ({ pod }: Member) =>
  (await client.get(pods, { namespace, name: pod }))?.status?.conditions?.some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );

// First, while every node has one primary, as birth places them: a node with two would take the quorum along.
describe('a node that is cut off with a primary', () => {
  test('refuses writes after the node timeout, while its replica serves; it follows when the node is back', async () => {
    const { items: operators } = await client.list(pods, { namespace: 'valkey-system' });
    const busy = new Set(operators.map(({ spec }) => spec?.nodeName));
    const primary = (await cluster.primaries()).find(({ kubernetesNode }) => !busy.has(kubernetesNode))!;
    const replica = await cluster.replicaOf(primary);
    const [pid] = valkeyOf(primary);
    await underLoad(cluster, {
      fault: async () => {
        await partitionNode(lab, primary.kubernetesNode);
        await expect.poll(async () => (await roleOf(replica)) === 'primary', POLL).toBe(true);
        await expect.poll(() => writeFromWithin(pid!, primary), POLL).toContain('CLUSTERDOWN');
      },
      heal: async () => {
        await healPartition(lab, primary.kubernetesNode);
        await expect.poll(() => roleOf(primary), POLL).toBe('replica');
        await cluster.waitUntilReady();
      },
    });
    expect(valkeyOf(primary)).toEqual([pid]);
  });
});

describe('a sidecar that is frozen', () => {
  test('is shown and replaced, and its Valkey serves on', async () => {
    const [primary] = await cluster.primaries();
    const [valkey, [frozen]] = [valkeyOf(primary!), sidecarOf(primary!)];
    const { gapMs, noiseMs } = await underLoad(cluster, {
      fault: async () => {
        signalPodProcess(primary!.podUid, 'node', 'SIGSTOP');
        await expect.poll(() => isReady(primary!), POLL).toBe(false);
        const { message } = await cluster.waitForReason('Degraded', ['NodeUnreachable']);
        expect(message).toContain(primary!.pod);
      },
      heal: async () => {
        await expect.poll(() => sidecarOf(primary!), POLL).not.toContain(frozen);
        await expect.poll(() => isReady(primary!), POLL).toBe(true);
        await cluster.waitUntilReady();
      },
    });
    expect(gapMs).toBeLessThan(500 + 2 * noiseMs);
    expect(valkeyOf(primary!)).toEqual(valkey);
    expect(await roleOf(primary!)).toBe('primary');
  });
});

async function roleOf({ pod }: Member): Promise<string | undefined> {
  return (await cluster.members()).find((member) => member.pod === pod)?.self.role;
}

/** What a client on the same side of the cut gets for a write to a slot of this primary. */
async function writeFromWithin(pid: number, { ip, self }: Member): Promise<string> {
  const key = Array.from({ length: 1000 }, (_, n) => `cut-off-${n}`).find((name) => self.slots.has(keySlot(name)))!;
  const inside = ['-t', `${pid}`, '-m', '-n'];
  const { stdout } = await run('nsenter', [...inside, 'valkey-cli', '-h', ip, 'SET', key, 'from the minority']);
  return stdout;
}
