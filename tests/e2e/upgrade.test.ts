import { Lab } from '@valkey-operator/lab';
import { expectText } from '@valkey-operator/valkey';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { call, createRestrictedNamespace, TestCluster } from '../support/test-cluster.ts';
import { underLoad } from '../support/under-load.ts';

/** One cluster that is brought from version to version, and rolled for other reasons, under load (C4). */
const namespace = 'upgrade';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const cluster = new TestCluster(lab, client, namespace, 'climb');
const image = (tag: string) => ({ valkeyImage: { name: 'docker.io/valkey/valkey', tag } });

beforeAll(async () => {
  await createRestrictedNamespace(lab, namespace);
  await cluster.apply(image('8.0'));
  await cluster.waitUntilReady();
});
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false']));

describe('a change of the image rolls the cluster, one pod at a time,', () => {
  test.for([
    ['8.0', '8.1', {}],
    ['8.1', '9.1', {}],
    ['9.1', '8.1', { allowDowngrade: true }],
  ] as const)('from %s to %s', async ([, to, extra]) => {
    const before = await uids();
    const { gapMs, noiseMs } = await underLoad(cluster, {
      fault: () => cluster.apply({ ...image(to), ...extra }),
      heal: rolled,
    });
    expect(gapMs).toBeLessThan(500 + 2 * noiseMs);
    expect(new Set(await versions())).toEqual(new Set([expect.stringMatching(`^${to}[.]`)]));
    expect((await uids()).filter((uid) => before.includes(uid))).toEqual([]);
  });
});

/** The newest spec is in effect, and nothing goes on. */
async function rolled(): Promise<void> {
  await cluster.waitFor(
    'rolled',
    ({ metadata, status }) => {
      const find = (name: string) => status?.conditions?.find(({ type }) => type === name);
      const isTold = find('Ready')?.observedGeneration === metadata.generation;
      return isTold && find('Ready')?.status === 'True' && find('Progressing')?.status === 'False';
    },
    180_000,
  );
}

async function uids(): Promise<string[]> {
  return (await cluster.pods()).map(({ metadata }) => metadata.uid!);
}

async function versions(): Promise<string[]> {
  const answers = (await cluster.seeds()).map(async ({ host }) => {
    const info = expectText(await call(host, ['INFO', 'server']));
    return /valkey_version:(\S+)/.exec(info)?.[1] ?? info;
  });
  return Promise.all(answers);
}
