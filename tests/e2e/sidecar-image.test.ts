import type { ValkeyCluster } from '@valkey-operator/api';
import { events } from '@valkey-operator/kube';
import { Lab, tagImage } from '@valkey-operator/lab';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createRestrictedNamespace, TestCluster } from '../support/test-cluster.ts';
import { underLoad } from '../support/under-load.ts';
import { waitForShards } from './support/shards.ts';

/** Another sidecar is a roll like any other (C4), and whoever asks for more pods meanwhile waits for its end (C8). */
const namespace = 'sidecar-image';
const NAME = 'ghcr.io/valkey-operator/sidecar';
const RELEASED = `${NAME}:0.1.0`;
const OTHER = `${NAME}:0.1.0-other`;
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const cluster = new TestCluster(lab, client, namespace, 'side');
const image = (tag: string) => ({ sidecarImage: { name: NAME, tag } });

type Status = NonNullable<ValkeyCluster['status']>;

beforeAll(async () => {
  await tagImage(lab, RELEASED, OTHER);
  await createRestrictedNamespace(lab, namespace);
  await cluster.apply({});
  await cluster.waitUntilReady();
});
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false']));

test('another sidecar image comes pod by pod, and a shard that is asked for meanwhile comes after it', async () => {
  const before = await uids();
  const { gapMs, noiseMs } = await underLoad(cluster, {
    fault: async () => {
      await cluster.apply(image('0.1.0-other'));
      await statusWhen('begun', isRolling);
      await cluster.scaleTo(4);
      const { pendingOrchestrations } = await statusWhen('queued', isScaleOutWaiting);
      expect(pendingOrchestrations).toMatchObject([{ kind: 'ScaleOut', message: 'The pods grow from 6 to 8.' }]);
    },
    heal: () => waitForShards(cluster, 4),
  });
  expect(gapMs).toBeLessThan(1500 + 2 * noiseMs);
  const pods = await cluster.pods();
  expect(pods.map(({ spec }) => spec?.initContainers?.[0]?.image)).toEqual(pods.map(() => OTHER));
  expect(pods.filter(({ metadata }) => before.includes(metadata.uid))).toEqual([]);
  const made = pods.map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ''));
  expect(Math.min(...made.slice(6))).toBeGreaterThanOrEqual(Math.max(...made.slice(0, 6)));
  // Each pod once: as a replica, or as one that is about to be.
  const told = (await cluster.events()).flatMap(({ reason, message = '' }) =>
    reason === 'PodReplaced' ? message : [],
  );
  const replaced = told.map((message) => /side-\d(?=, a replica of| does not serve)/.exec(message)?.[0] ?? message);
  expect(replaced.toSorted()).toEqual(pods.slice(0, 6).map(({ metadata }) => metadata.name));
  expect(told).toEqual(told.map(() => expect.stringContaining(`is replaced: ${RELEASED} to ${OTHER}.`)));
});

test('a shard that waits in the queue and is cancelled there never gets a pod', async () => {
  await cluster.apply({ ...image('0.1.0-other'), masterCount: 4 });
  await waitForShards(cluster, 4);
  await underLoad(cluster, {
    fault: async () => {
      await cluster.apply({ ...image('0.1.0'), masterCount: 4 });
      await statusWhen('begun', isRolling);
      await cluster.scaleTo(5);
      const { orchestration } = await statusWhen('queued', isScaleOutWaiting);
      await cluster.annotate({ 'valkey.io/cancel': orchestration!.id });
      await statusWhen('cancelled', ({ cancelled }) => cancelled?.kind === 'Upgrade');
      // That wish has been heard: the next one is about what comes next.
      await cluster.annotate({ 'valkey.io/cancel': 'true' });
      await statusWhen('cancelled', ({ cancelled }) => cancelled?.kind === 'ScaleOut');
    },
    heal: () => cluster.waitUntilAtRest(),
  });
  const { message } = await cluster.waitForReason('Progressing', ['Cancelled']);
  expect(message).toContain('ScaleOut was cancelled');
  const pods = await cluster.pods();
  expect(pods.map(({ spec }) => spec?.initContainers?.[0]?.image)).toEqual(Array.from({ length: 8 }, () => OTHER));
  const heardOf = (await client.list(events, { namespace })).items.map((event) => event.involvedObject.name);
  expect(heardOf).toContain('side-7');
  expect(heardOf).not.toContain('side-8');
  await cluster.annotate({ 'valkey.io/cancel': null });
});

test('a sidecar image that does not exist costs one replica and is taken back', async () => {
  await cluster.apply({ ...image('0.1.0-other'), masterCount: 4 });
  await cluster.waitUntilAtRest();
  const before = await uids();
  const primaries = (await cluster.primaries()).map(({ podUid }) => podUid);
  await underLoad(cluster, {
    fault: () => cluster.apply({ ...image('9.9.9'), masterCount: 4 }),
    heal: async () => {
      const { message } = await cluster.waitForReason('Degraded', ['RolledBack'], 150_000);
      expect(message).toMatch(
        /failed: pod side-\d: container sidecar does not start \((ErrImagePull|ImagePullBackOff)/,
      );
      await cluster.waitUntilReady();
    },
  });
  const after = await uids();
  expect(after.filter((uid) => !before.includes(uid))).toHaveLength(1);
  expect(after).toEqual(expect.arrayContaining(primaries));
  const pods = await cluster.pods();
  expect(pods.map(({ spec }) => spec?.initContainers?.[0]?.image)).toEqual(pods.map(() => OTHER));
});

async function statusWhen(what: string, holds: (status: Status) => boolean): Promise<Status> {
  const { status } = await cluster.waitFor(what, (seen) => seen.status !== undefined && holds(seen.status), 60_000);
  return status!;
}

function isRolling({ orchestration }: Status): boolean {
  return orchestration?.kind === 'Upgrade' && (orchestration.pods ?? []).length > 0;
}

function isScaleOutWaiting({ pendingOrchestrations = [] }: Status): boolean {
  return pendingOrchestrations.some(({ kind }) => kind === 'ScaleOut');
}

async function uids(): Promise<(string | undefined)[]> {
  return (await cluster.pods()).map(({ metadata }) => metadata.uid);
}
