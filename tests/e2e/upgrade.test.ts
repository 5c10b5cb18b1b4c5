import { apiVersion, type ValkeyUpgrade } from '@valkey-operator/api';
import { defineResource, type KubeObject } from '@valkey-operator/kube';
import { Lab } from '@valkey-operator/lab';
import { expectText } from '@valkey-operator/valkey';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { call, createRestrictedNamespace, TestCluster } from '../support/test-cluster.ts';
import { underLoad } from '../support/under-load.ts';

/** One cluster that is brought to another version, and rolled for other reasons, under load (C4). */
const namespace = 'upgrade';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const cluster = new TestCluster(lab, client, namespace, 'climb');
const upgrades = defineResource<ValkeyUpgrade & KubeObject>(apiVersion, 'ValkeyUpgrade', 'valkeyupgrades');
const image = (tag: string) => ({ valkeyImage: { name: 'docker.io/valkey/valkey', tag } });
const kept = { pvc: { storageSize: '50Mi' }, deletionPolicy: 'Delete' } as const;
const POLL = { timeout: 170_000, interval: 500 };

beforeAll(async () => {
  await createRestrictedNamespace(lab, namespace);
  await cluster.apply({ ...kept, ...image('8.1') });
  await cluster.waitUntilReady();
  // The load asks each node who follows whom; one that has not heard the last of it would have it wait for too many.
  await vi.waitFor(async () => expect(await isAgreed()).toBe(true), POLL);
});
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false']));

describe('a roll', () => {
  test('by a ValkeyUpgrade replaces every pod, loses nothing, and tells how far each shard is', async () => {
    const before = await uids();
    const { gapMs, noiseMs } = await underLoad(cluster, {
      fault: () => askFor('leap', '9.1'),
      heal: async () => {
        await expect.poll(async () => (await findUpgrade('leap'))?.status?.phase, POLL).toBe('Succeeded');
      },
    });
    expect(await versions()).toEqual([expect.stringMatching('^9[.]1')]);
    expect((await uids()).filter((uid) => before.includes(uid))).toEqual([]);
    expect((await findUpgrade('leap'))?.status).toMatchObject({ shardsDone: 3 });
    expect(gapMs).toBeLessThan(500 + 2 * noiseMs);
  });

  test('by a ValkeyUpgrade leaves the spec as it is; that it follows later restarts nothing', async () => {
    expect((await cluster.get()).spec.valkeyImage?.tag).toBe('8.1');
    const before = await uids();
    await cluster.apply({ ...kept, ...image('9.1') });
    await rolled();
    expect(await uids()).toEqual(before);
  });

  test('to an image that does not exist costs one replica and is taken back', async () => {
    const before = await uids();
    await underLoad(cluster, {
      fault: () => cluster.apply({ ...kept, ...image('9.99') }),
      heal: async () => {
        const { message } = await cluster.waitForReason('Degraded', ['RolledBack'], 150_000);
        expect(message).toMatch(/pod climb-\d.*(ErrImagePull|ImagePullBackOff)/);
        await cluster.waitUntilReady();
      },
    });
    expect(await versions()).toEqual([expect.stringMatching('^9[.]1')]);
    expect((await uids()).filter((uid) => !before.includes(uid))).toHaveLength(1);
  });
});

describe('without a restart', () => {
  test('pods take labels and other resources', async () => {
    const before = await uids();
    const resources = { requests: { cpu: '50m', memory: '256Mi' }, limits: { memory: '512Mi' } };
    await cluster.apply({ ...kept, ...image('9.1'), labels: { team: 'shop' }, resources });
    await rolled();
    const pods = await cluster.pods();
    expect(pods.map(({ metadata }) => metadata.labels?.['team'])).toEqual(pods.map(() => 'shop'));
    const asked = pods.map(({ spec }) => spec?.containers[0]?.resources?.requests?.['memory']);
    expect(asked).toEqual(pods.map(() => '256Mi'));
    expect(await uids()).toEqual(before);
  });
});

describe('a ValkeyUpgrade', () => {
  test.for([
    ['of a cluster that does not exist', 'nowhere', '9.1', 'Queued', /no ValkeyCluster nowhere/],
    ['to what is not newer', 'climb', '8.0', 'Failed', /not newer/],
  ] as const)('%s says so and touches nothing', async ([, name, version, phase, message]) => {
    const before = await uids();
    const upgrade = `${name}-${version.replace('.', '-')}`;
    await askFor(upgrade, version, name);
    await expect.poll(async () => (await findUpgrade(upgrade))?.status?.phase, POLL).toBe(phase);
    expect((await findUpgrade(upgrade))?.status?.conditions?.[0]?.message).toMatch(message);
    expect(await uids()).toEqual(before);
  });
});

test('valkey.io/restart-at replaces every pod', async () => {
  const before = await uids();
  await underLoad(cluster, {
    fault: () => cluster.annotate({ 'valkey.io/restart-at': new Date().toISOString() }),
    heal: async () => {
      const old = async () => (await uids()).filter((uid) => before.includes(uid));
      await expect.poll(old, POLL).toEqual([]);
      await rolled();
    },
  });
});

/** Every node knows of one replica for each primary. */
async function isAgreed(): Promise<boolean> {
  const tables = (await cluster.members()).map(({ table }) => table);
  const followed = (table: (typeof tables)[number]) => new Set(table.flatMap(({ primaryId }) => primaryId ?? []));
  return tables.length === 6 && tables.every((table) => table.length === 6 && followed(table).size === 3);
}

/** The newest spec is in effect, and nothing goes on. */
async function rolled(): Promise<void> {
  await cluster.waitFor(
    'rolled',
    ({ metadata, status }) => {
      const find = (name: string) => status?.conditions?.find(({ type }) => type === name);
      const isTold = find('Ready')?.observedGeneration === metadata.generation;
      return isTold && find('Ready')?.status === 'True' && find('Progressing')?.status === 'False';
    },
    170_000,
  );
}

async function uids(): Promise<string[]> {
  return (await cluster.pods()).map(({ metadata }) => metadata.uid!);
}

/** Those that run, each once. */
async function versions(): Promise<string[]> {
  const answers = (await cluster.seeds()).map(async ({ host }) => {
    const info = expectText(await call(host, ['INFO', 'server']));
    return /valkey_version:(\S+)/.exec(info)?.[1] ?? info;
  });
  return [...new Set(await Promise.all(answers))];
}

async function askFor(name: string, targetVersion: string, target = cluster.name): Promise<void> {
  const spec = { clusterRef: { name: target }, targetVersion };
  await lab.apply(JSON.stringify({ apiVersion, kind: 'ValkeyUpgrade', metadata: { name, namespace }, spec }));
}

function findUpgrade(name: string) {
  return client.get(upgrades, { namespace, name });
}
