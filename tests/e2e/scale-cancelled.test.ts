import { Lab } from '@valkey-operator/lab';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { layIn } from '../support/stock.ts';
import { createRestrictedNamespace, TestCluster } from '../support/test-cluster.ts';
import { underLoad } from '../support/under-load.ts';
import { describeSlots, evenly, POLL, startFrom } from './support/shards.ts';

/** A change of size that is cancelled while it runs, under load (C2, C8). */
const namespace = 'scale-cancelled';
const STOCK = 20_000;
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();

beforeAll(() => createRestrictedNamespace(lab, namespace));
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false']));

describe.each([
  ['9.1', 'as a whole'],
  ['8.1', 'key by key'],
])('3 shards that were to become 4, on Valkey %s, where slots move %s,', (tag) => {
  const cluster = new TestCluster(lab, client, namespace, `back-${tag.replace('.', '-')}`);
  const cancel = () => cluster.annotate({ 'valkey.io/cancel': 'true' });

  beforeAll(async () => {
    await cluster.apply({ valkeyImage: { name: 'docker.io/valkey/valkey', tag } });
    await cluster.waitUntilReady();
    await layIn(await cluster.primaries(), STOCK);
  });
  afterAll(() => cluster.delete());

  test('are 3 again when the fourth had no slots yet', async () => {
    await underLoad(cluster, {
      fault: async () => {
        await cluster.scaleTo(4);
        await expect.poll(async () => (await cluster.pods()).length, POLL).toBeGreaterThan(6);
        await cancel();
      },
      heal: async () => {
        const { message } = await cluster.waitForReason('Progressing', ['Cancelled']);
        expect(message).toContain('ScaleOut was cancelled');
        await expect.poll(async () => (await cluster.pods()).length, POLL).toBe(6);
      },
    });
    await expect.poll(() => describeSlots(cluster), POLL).toEqual(evenly(3, STOCK));
    await cluster.annotate({ 'valkey.io/cancel': null });
    await startFrom(cluster, 3);
  });

  test('are whole again when the fourth had slots already: nothing is lost or left half moved', async () => {
    const isTaken = async () => (await cluster.primaries()).length === 4;
    await underLoad(cluster, {
      fault: async () => {
        await cluster.scaleTo(4);
        await expect.poll(isTaken, { timeout: 60_000, interval: 50 }).toBe(true);
        await cancel();
      },
      heal: async () => {
        await cluster.waitForReason('Progressing', ['Cancelled']);
        await cluster.waitUntilAtRest();
      },
    });
    // Whoever heard of the slots before the wish keeps the shard, else they go back.
    const { shards } = await describeSlots(cluster);
    expect([3, 4]).toContain(shards);
    await expect.poll(() => describeSlots(cluster), POLL).toEqual(evenly(shards, STOCK));
  });
});
