import { setTimeout as sleep } from 'node:timers/promises';
import type { ValkeyClusterStatus } from '@valkey-operator/api';
import { Lab } from '@valkey-operator/lab';
import { expectText, keySlot, parseClusterNodes, parseSlotMigrations } from '@valkey-operator/valkey';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { muteBus } from '../support/mute-bus.ts';
import { signalPodProcess } from '../support/pod-processes.ts';
import { countStock, layIn } from '../support/stock.ts';
import { call, createRestrictedNamespace, type Member, TestCluster } from '../support/test-cluster.ts';
import { type Outcome, underLoad } from '../support/under-load.ts';
import { VALKEY } from './support/data-directory.ts';
import { callFunction, loadFunction } from './support/functions.ts';
import { describeSlots, evenly, POLL, startFrom, waitForShards } from './support/shards.ts';
import { watchStory } from './support/watch-story.ts';

/** Shards come and go under load (C2), whatever happens meanwhile: slots move as a whole. */
const namespace = 'scale-atomic';
/** Moves should take long enough to be interrupted. */
const STOCK = 150_000;
/** Valkey waits for 4 s to hear from a target that it has what it was given. */
const SOURCE_WAITS_MS = 5000;
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();

beforeAll(() => createRestrictedNamespace(lab, namespace));
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false']));

/** The bench planned-gap measures it against half a second, alone on the machine. */
const shortGap = ({ noiseMs }: Outcome) => 1000 + 2 * noiseMs;

/** Valkey 9 is copying slots between the two. They change hands all at once, so that what a node owns would tell too late. */
async function runningMigration(cluster: TestCluster): Promise<{ source: Member; target: Member }> {
  const sources = (await cluster.primaries()).map(({ ip }) => ip);
  const findOne = async () => {
    const logs = await Promise.all(sources.map((ip) => call(ip, ['CLUSTER', 'GETSLOTMIGRATIONS'])));
    return logs.flatMap(parseSlotMigrations).find(({ outcome }) => outcome === 'running');
  };
  let migration: Awaited<ReturnType<typeof findOne>>;
  await expect
    .poll(async () => (migration = await findOne()) !== undefined, { timeout: 60_000, interval: 5 })
    .toBe(true);
  const members = await cluster.members();
  const find = (id: string) => members.find(({ self }) => self.id === id)!;
  return { source: find(migration!.sourceNode), target: find(migration!.targetNode) };
}

async function targetOfMigration(cluster: TestCluster): Promise<Member> {
  return (await runningMigration(cluster)).target;
}

function ownSlots(table: string): number {
  return parseClusterNodes(table).find(({ myself }) => myself)!.slots.count;
}

describe('on Valkey 9.1', () => {
  const cluster = new TestCluster(lab, client, namespace, 'nine');
  const config = { maxmemory: '64mb', 'maxmemory-policy': 'noeviction', 'repl-backlog-size': '1mb' };

  beforeAll(async () => {
    await cluster.apply({ config });
    await cluster.waitUntilReady();
    await layIn(await cluster.primaries(), STOCK);
    await loadFunction(cluster);
  });
  afterAll(() => cluster.delete());

  test('slots that somebody has moved go back to where they were, which is told', async () => {
    const layout = async () => (await cluster.primaries()).map(({ pod, self }) => `${pod} ${self.slots.toString()}`);
    const before = (await layout()).toSorted();
    const [source, target] = (await cluster.primaries()) as [Member, Member];
    const slot = `${source.self.slots.ranges[0]![0] + 7}`;
    await call(source.ip, ['CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', slot, slot, 'NODE', target.self.id]);
    const told = `Slots ${slot} are served by ${target.pod}, should be by ${source.pod}`;
    // By the event: the slot is back so soon that a look at the condition may come too late.
    const events = async () => (await cluster.events()).map(({ message }) => message).join();
    await expect.poll(events, POLL).toContain(told);
    await expect.poll(async () => (await layout()).toSorted(), POLL).toEqual(before);
    await waitForShards(cluster, 3);
    expect(await countStock(await cluster.primaries())).toBe(STOCK);
  });

  test('3 shards become 4 by kubectl scale, and kubectl get -w tells the story', async () => {
    await startFrom(cluster, 3);
    let story = '';
    const outcome = await underLoad(cluster, {
      fault: async () => {
        story = await watchStory(cluster, async () => {
          await cluster.scaleTo(4);
          await waitForShards(cluster, 4);
        });
      },
      heal: () => waitForShards(cluster, 4),
    });
    expect(outcome.gapMs).toBeLessThan(shortGap(outcome));
    expect(story).toMatch(/Updating +3\/4 .*ScaleOut[^]*Running +4\/4/);
    await expect.poll(() => describeSlots(cluster), POLL).toEqual(evenly(4, STOCK));
    expect(await callFunction(cluster)).toEqual([42, 42, 42, 42]);
  });

  test('4 shards stay 4 while their data would not fit into 3, which is said with the figures', async () => {
    const before = (await cluster.pods()).map(({ metadata }) => metadata.uid);
    const fill = await fillUp(cluster, 45);
    await expect.poll(() => heardOf(cluster, 45), POLL).toBe(4);
    await cluster.scaleTo(3);
    const { message } = await cluster.waitForReason('Progressing', ['DataDoesNotFit']);
    expect(message).toMatch(/does not fit into 3 shards: \d+ MiB are in use.* maxmemory of 64 MiB/);
    expect((await cluster.pods()).map(({ metadata }) => metadata.uid)).toEqual(before);
    await cluster.scaleTo(4);
    await fill.remove();
    await waitForShards(cluster, 4);
    await expect.poll(() => describeSlots(cluster), POLL).toEqual(evenly(4, STOCK));
  });

  test('4 shards become 3, and nobody remembers the fourth', async () => {
    await startFrom(cluster, 4);
    const outcome = await underLoad(cluster, {
      fault: () => cluster.scaleTo(3),
      heal: () => waitForShards(cluster, 3),
    });
    expect(outcome.gapMs).toBeLessThan(shortGap(outcome));
    await expect.poll(() => describeSlots(cluster), POLL).toEqual(evenly(3, STOCK));
  });

  test('3 shards become 4 although the new primary is killed before anybody has heard of slots that it got', async () => {
    await startFrom(cluster, 3);
    await underLoad(cluster, {
      fault: async () => {
        await cluster.scaleTo(4);
        const { podUid, ip } = await targetOfMigration(cluster);
        const unmute = muteBus(podUid);
        const countOwn = async () => ownSlots(expectText(await call(ip, ['CLUSTER', 'NODES'])));
        const heard = await countOwn();
        // It may have got its last ones by then: the source of any others waits to hear of them, and takes no writes.
        await vi
          .waitUntil(async () => (await countOwn()) > heard, { timeout: 2000, interval: 5 })
          .catch(() => undefined);
        signalPodProcess(podUid, VALKEY, 'SIGKILL');
        // By then the source has given up waiting, and is written to.
        await sleep(SOURCE_WAITS_MS);
        unmute();
      },
      heal: () => waitForShards(cluster, 4),
    });
    await expect.poll(() => describeSlots(cluster), POLL).toEqual(evenly(4, STOCK));
  });

  test('4 shards become 3 although a source is killed in mid-move', async () => {
    await startFrom(cluster, 4);
    await underLoad(cluster, {
      fault: async () => {
        await cluster.scaleTo(3);
        signalPodProcess((await runningMigration(cluster)).source.podUid, VALKEY, 'SIGKILL');
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
        await targetOfMigration(cluster);
        await cluster.scaleTo(3);
      },
      heal: () => waitForShards(cluster, 3),
    });
    await expect.poll(() => describeSlots(cluster), POLL).toEqual(evenly(3, STOCK));
  });

  test('shards and replicas change at once, although the new primary is killed in mid-move', async () => {
    await cluster.apply({ config });
    await waitForShards(cluster, 3);
    await underLoad(cluster, {
      fault: async () => {
        await cluster.apply({ config, masterCount: 4, replicasPerMaster: 2 });
        signalPodProcess((await targetOfMigration(cluster)).podUid, VALKEY, 'SIGKILL');
      },
      heal: () => waitForShards(cluster, 4, 2),
    });
    await expect.poll(() => describeSlots(cluster), POLL).toEqual(evenly(4, STOCK, 12));
  });
});

/** So many MiB of keys on every primary. */
async function fillUp(cluster: TestCluster, mebibytes: number) {
  const value = 'x'.repeat(1024 * 1024);
  const filled = (await cluster.primaries()).flatMap(({ ip, self }) => {
    const names = Array.from({ length: 1000 }, (_, number) => `fill:${number}`);
    const keys = names.filter((name) => self.slots.has(keySlot(name))).slice(0, mebibytes);
    return keys.map((key) => ({ ip, key }));
  });
  for (const { ip, key } of filled) await call(ip, ['SET', key, value]);
  return { remove: () => Promise.all(filled.map(({ ip, key }) => call(ip, ['DEL', key]))) };
}

/** How many nodes that are said to use so many MiB are primaries. */
async function heardOf({ name }: TestCluster, mebibytes: number): Promise<number> {
  const { stdout } = await lab.kubectl(['-n', namespace, 'get', 'vcs', `${name}-status`, '-o', 'json']);
  const { status } = JSON.parse(stdout) as ValkeyClusterStatus;
  const full = (status?.nodes ?? []).filter(({ usedMemoryBytes = 0 }) => usedMemoryBytes > mebibytes * 1024 * 1024);
  return full.filter(({ role }) => role === 'primary').length;
}
