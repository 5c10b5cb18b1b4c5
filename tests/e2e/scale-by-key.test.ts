import { randomBytes } from 'node:crypto';
import { type Pod, pods } from '@valkey-operator/kube';
import { Lab } from '@valkey-operator/lab';
import { expectArray, expectText, keySlot, planSlotMoves, type SlotSet } from '@valkey-operator/valkey';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { signalPodProcess } from '../support/pod-processes.ts';
import { deleteKeys, findKeys, layIn, nameKeys, setKeys } from '../support/stock.ts';
import { call, createRestrictedNamespace, type Member, TestCluster } from '../support/test-cluster.ts';
import { underLoad } from '../support/under-load.ts';
import { VALKEY } from './support/data-directory.ts';
import { callFunction, loadFunction } from './support/functions.ts';
import { describeSlots, evenly, POLL, startFrom, waitForShards } from './support/shards.ts';
import { watchStory } from './support/watch-story.ts';

/** Shards come and go under load (C2), whatever happens meanwhile: slots move key by key. */
const namespace = 'scale-by-key';
/** From a primary that falls silent to its successor, and time for clients to hear of it. */
const FAILOVER_MS = 25_000;
const STOCK = 20_000;
/** From 32 MiB on a key moves alone. */
const LARGE_BYTES = 33 * 1024 * 1024;
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const operator = { namespace: 'valkey-system', labelSelector: 'app.kubernetes.io/name=valkey-operator' };

beforeAll(() => createRestrictedNamespace(lab, namespace));
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false']));

/** The first primary of which this is true, as soon as there is one. */
async function findPrimary(cluster: TestCluster, isWanted: (primary: Member) => boolean): Promise<Member> {
  let found: Member | undefined;
  const isFound = async () => (found = (await cluster.primaries()).find(isWanted)) !== undefined;
  await expect.poll(isFound, { timeout: 60_000, interval: 20 }).toBe(true);
  return found!;
}

/** A shard that slots arrive at, key by key. */
function importer(cluster: TestCluster): Promise<Member> {
  return findPrimary(cluster, ({ self }) => self.openSlots.some(({ direction }) => direction === 'importing'));
}

/** A new shard that has got some of its slots, but not all. */
function newcomerInMidMove(cluster: TestCluster, atLeast = 0): Promise<Member> {
  const isMidway = ({ count }: SlotSet) => count >= atLeast && count < 4000;
  return findPrimary(cluster, ({ pod, self }) => Number(pod.split('-').at(-1)) >= 6 && isMidway(self.slots));
}

describe('on Valkey 8.1', () => {
  const cluster = new TestCluster(lab, client, namespace, 'eight');

  beforeAll(async () => {
    await cluster.apply({ valkeyImage: { name: 'docker.io/valkey/valkey', tag: '8.1' } });
    await cluster.waitUntilReady();
    await layIn(await cluster.primaries(), STOCK);
    await loadFunction(cluster);
  });
  afterAll(() => cluster.delete());

  test('a slot that somebody left half moved is finished, with all its keys', async () => {
    const [source, target] = (await cluster.primaries()) as [Member, Member];
    const slot = keySlot('stock:0');
    const owner = [source, target].find(({ self }) => self.slots.has(slot)) ?? (await ownerOf(cluster, slot));
    const other = owner === target ? source : target;
    await call(other.ip, ['CLUSTER', 'SETSLOT', `${slot}`, 'IMPORTING', owner.self.id]);
    await call(owner.ip, ['CLUSTER', 'SETSLOT', `${slot}`, 'MIGRATING', other.self.id]);
    const [first] = expectArray(await call(owner.ip, ['CLUSTER', 'GETKEYSINSLOT', `${slot}`, '1']));
    await call(owner.ip, ['MIGRATE', other.ip, '6379', expectText(first), '0', '2000']);
    await expect.poll(() => openSlots(cluster), POLL).toBe(0);
    await waitForShards(cluster, 3);
    await expect.poll(() => describeSlots(cluster), POLL).toEqual(evenly(3, STOCK));
  });

  test('a slot with keys of many MiB moves, and the sidecar has the memory for it', async () => {
    const slot = keySlot('{large}');
    const keys = Array.from({ length: 8 }, (_, index) => `{large}${index}`);
    const owner = await ownerOf(cluster, slot);
    const other = (await cluster.primaries()).find(({ self }) => self.id !== owner.self.id)!;
    for (const key of keys) await call(owner.ip, ['SET', key, randomBytes(20 * 1024 * 1024)]);
    await call(other.ip, ['CLUSTER', 'SETSLOT', `${slot}`, 'IMPORTING', owner.self.id]);
    await call(owner.ip, ['CLUSTER', 'SETSLOT', `${slot}`, 'MIGRATING', other.self.id]);
    await expect.poll(async () => (await ownerOf(cluster, slot)).pod, POLL).toBe(other.pod);
    // It may go back to where it belongs.
    await expect.poll(() => openSlots(cluster), POLL).toBe(0);
    await waitForShards(cluster, 3);
    const { ip } = await ownerOf(cluster, slot);
    expect(await call(ip, ['EXISTS', ...keys])).toBe(keys.length);
    expect((await cluster.pods()).map(sidecarRestarts)).toEqual([0, 0, 0, 0, 0, 0]);
    await call(ip, ['DEL', ...keys]);
  });

  test('3 shards become 4 although a source is deleted in mid-move', async () => {
    await startFrom(cluster, 3);
    await underLoad(cluster, {
      fault: async () => {
        await cluster.scaleTo(4);
        await newcomerInMidMove(cluster);
        const [source] = (await cluster.primaries()) as [Member];
        await lab.kubectl(['-n', namespace, 'delete', 'pod', source.pod, '--wait=false']);
      },
      heal: () => waitForShards(cluster, 4),
    });
    await expect.poll(() => describeSlots(cluster), POLL).toEqual(evenly(4, STOCK));
    expect(await callFunction(cluster)).toEqual([42, 42, 42, 42]);
  });

  test('4 shards become 3 although the operator is killed in mid-move', async () => {
    await startFrom(cluster, 4);
    const { uid } = (await client.list(pods, operator)).items[0]!.metadata;
    await underLoad(cluster, {
      fault: async () => {
        await cluster.scaleTo(3);
        const hasMoved = async () => (await cluster.primaries()).some(({ self }) => self.slots.count < 4000);
        await expect.poll(hasMoved, { timeout: 60_000, interval: 20 }).toBe(true);
        signalPodProcess(uid, 'node', 'SIGKILL');
      },
      heal: () => waitForShards(cluster, 3),
    });
    await expect.poll(() => describeSlots(cluster), POLL).toEqual(evenly(3, STOCK));
  });

  test('a spec that is reversed in mid-move leads back', async () => {
    await startFrom(cluster, 3);
    await underLoad(cluster, {
      fault: async () => {
        await cluster.scaleTo(4);
        await newcomerInMidMove(cluster);
        await cluster.scaleTo(3);
      },
      heal: () => waitForShards(cluster, 3),
    });
    await expect.poll(() => describeSlots(cluster), POLL).toEqual(evenly(3, STOCK));
  });

  test('3 shards become 4 although the new primary is killed in mid-move: no key is lost, no delete undone', async () => {
    await startFrom(cluster, 3);
    const doomed = nameKeys('doomed:', STOCK);
    await setKeys(await cluster.primaries(), doomed);
    let deleted: string[] = [];
    await underLoad(cluster, {
      fault: async () => {
        await cluster.scaleTo(4);
        signalPodProcess((await newcomerInMidMove(cluster, 500)).podUid, VALKEY, 'SIGKILL');
        // Until it has a successor, what was about to leave is still where it was.
        deleted = await deleteKeys(await cluster.primaries(), doomed);
      },
      heal: () => waitForShards(cluster, 4),
    });
    await expect.poll(() => describeSlots(cluster), POLL).toEqual(evenly(4, STOCK));
    expect(deleted.length).toBeGreaterThan(STOCK / 2);
    expect(await findKeys(await cluster.primaries(), deleted)).toEqual([]);
  });

  test('4 shards become 3 although a target freezes in mid-move, and wakes up when its replica has taken over', async () => {
    await startFrom(cluster, 4);
    const { gapMs, noiseMs } = await underLoad(cluster, {
      fault: async () => {
        await cluster.scaleTo(3);
        const target = await importer(cluster);
        const heir = await cluster.replicaOf(target);
        signalPodProcess(target.podUid, VALKEY, 'SIGSTOP');
        try {
          const hasTakenOver = async () =>
            expectText(await call(heir.ip, ['INFO', 'replication'])).includes('role:master');
          await expect.poll(hasTakenOver, POLL).toBe(true);
          // Of a slot that the heir had not heard of when it took over the target is still the owner.
          const reasons = ['SlotsMoving', 'SlotsUncovered'];
          const said = async () => (await cluster.waitForReason('Progressing', reasons)).message;
          await expect
            .poll(said, POLL)
            .toMatch(new RegExp(`once ${target.pod} is heard again|when ${target.pod} is back`));
        } finally {
          signalPodProcess(target.podUid, VALKEY, 'SIGCONT');
        }
      },
      heal: () => waitForShards(cluster, 3),
    });
    await expect.poll(() => describeSlots(cluster), POLL).toEqual(evenly(3, STOCK));
    expect(gapMs).toBeLessThan(FAILOVER_MS + 2 * noiseMs);
  });

  test('3 shards become 4, and people are told how far the slots are, and of a large key by name', async () => {
    await startFrom(cluster, 3);
    const large = await setLargeKeyThatMoves(cluster);
    const scale = () => underLoad(cluster, { fault: () => cluster.scaleTo(4), heal: () => waitForShards(cluster, 4) });
    const story = await watchStory(cluster, scale, '.status.orchestration.message');
    await expect.poll(() => describeSlots(cluster), POLL).toEqual(evenly(4, STOCK));
    const told = readProgress(story);
    expect(new Set(told.map(({ slots }) => slots)).size).toBeGreaterThan(2);
    expect(told.at(-1)!.slots).toBeLessThan(told[0]!.slots);
    expect(told.at(-1)!.keys).toBeLessThan(told[0]!.keys);
    expect(told.some(({ seconds }) => seconds > 0)).toBe(true);
    const events = (await cluster.events()).map(({ message }) => message);
    expect(events).toContainEqual(expect.stringMatching(`^Slots move from eight-\\d: the key "${large}" has \\d+ MiB`));
    expect(await call((await ownerOf(cluster, keySlot(large))).ip, ['STRLEN', large])).toBe(LARGE_BYTES);
  });
});

/** In a slot that has to go to a fourth shard. */
async function setLargeKeyThatMoves(cluster: TestCluster): Promise<string> {
  const owners = new Map((await cluster.primaries()).map(({ self }) => [self.id, self.slots]));
  const moves = planSlotMoves(owners, [...owners.keys(), 'newcomer']);
  const key = nameKeys('large:', 1000).find((name) => moves.some(({ slots }) => slots.has(keySlot(name))))!;
  await call((await ownerOf(cluster, keySlot(key))).ip, ['SET', key, randomBytes(LARGE_BYTES)]);
  return key;
}

/** What the status said one after the other while slots moved. */
function readProgress(story: string): { slots: number; keys: number; seconds: number }[] {
  const text =
    /^(\d+) slots with some (\d+) keys are left to move from eight-.* to eight-\d(?:, which takes about (\d+) s)?\.$/gm;
  return [...story.matchAll(text)].map(([, slots, keys, seconds = 0]) => ({
    slots: Number(slots),
    keys: Number(keys),
    seconds: Number(seconds),
  }));
}

async function ownerOf(cluster: TestCluster, slot: number): Promise<Member> {
  return (await cluster.primaries()).find(({ self }) => self.slots.has(slot))!;
}

async function openSlots(cluster: TestCluster): Promise<number> {
  return (await cluster.members()).reduce((sum, { self }) => sum + self.openSlots.length, 0);
}

function sidecarRestarts({ status }: Pod): number | undefined {
  return status?.initContainerStatuses?.find(({ name }) => name === 'sidecar')?.restartCount;
}
