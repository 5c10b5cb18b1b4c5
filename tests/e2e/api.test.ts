import { apiVersion, kindByName } from '@valkey-operator/api';
import { readFixtures, type Fixture, type FixtureObject } from '@valkey-operator/api/fixtures';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiServer, kubectl } from './support/api-server.ts';

/** Every fixture of the API against the real API server, also those of kinds that are not installed yet. */
const namespace = 'api-fixtures';
const strictly = 'fieldValidation=Strict';
const dryRun = `dryRun=All&${strictly}`;

let server: ApiServer;

beforeAll(async () => {
  await kubectl('apply', '--server-side', '--force-conflicts', '--recursive', '--filename', 'deploy/crds');
  await kubectl('wait', '--for=condition=Established', 'crd', '--all');
  await kubectl('create', 'namespace', namespace);
  server = await ApiServer.open();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await kubectl('delete', 'namespace', namespace, '--wait=false');
});

describe('what is accepted', () => {
  test.each(readFixtures('*/*.yaml'))('$name', async ({ text, documents: [object] }) => {
    expect(await server.send('POST', `${collection(object!)}?${dryRun}`, text)).toMatchObject({ ok: true });
  });
});

describe('what is refused, with the message of the fixture', () => {
  const creations = readFixtures('*/rejected/*.yaml').filter(({ documents }) => documents.length === 1);

  test.each(creations)('$name', async ({ text, documents: [object], expected }) => {
    const { ok, complaints } = await server.send('POST', `${collection(object!)}?${dryRun}`, text);
    expect({ ok, complaints }).toEqual({ ok: false, complaints: expected });
  });
});

describe('what may change after creation', () => {
  const updates = readFixtures('*/{accepted,rejected}/*.yaml').filter(({ documents }) => documents.length === 2);

  test.each(updates)('$name', async (fixture) => {
    const { ok, complaints } = await tryUpdate(fixture);
    expect({ ok, complaints }).toEqual({ ok: fixture.expected.length === 0, complaints: fixture.expected });
  });
});

describe('kubectl', () => {
  test('explains every field of a ValkeyCluster', async () => {
    const explained = await kubectl('explain', 'valkeycluster.spec');
    expect(explained).toMatch(/masterCount\t<integer>\n +Number of primaries/);
    expect(explained).not.toContain('<no description>');
  });

  test('shows the columns, scales the primaries, and finds the cluster by its category', async () => {
    const cluster = { kind: 'ValkeyCluster', metadata: { name: 'paused' }, spec: { masterCount: 3 } };
    await create(cluster);
    const inNamespace = (...args: string[]) => kubectl('--namespace', namespace, ...args);

    expect((await inNamespace('get', 'vc', '-o', 'wide')).split('\n')[0]).toMatch(
      /^NAME +READY +PHASE +MASTERS +REPLICAS +SLOTS +OPERATION +VERSION +AGE +REASON +CERT-EXPIRY$/,
    );
    await inNamespace('scale', 'vc', 'paused', '--replicas=5');
    expect(await inNamespace('get', 'vc', 'paused', '-o', 'jsonpath={.spec.masterCount}')).toBe('5');
    await expect(inNamespace('scale', 'vc', 'paused', '--replicas=2')).rejects.toThrow('must be between 3 and 500');
    expect(await inNamespace('get', 'valkey', '-o', 'name')).toContain('valkeycluster.valkey.io/paused');

    await remove(cluster);
  });
});

function collection({ kind }: FixtureObject): string {
  return `/apis/${apiVersion}/namespaces/${namespace}/${kindByName(kind)!.plural}`;
}

const item = (object: FixtureObject): string => `${collection(object)}/${object.metadata.name}`;

/** Creates the first document and tries the second on it. */
async function tryUpdate({ documents: [before, after] }: Fixture) {
  const { resourceVersion } = (await create(before!)).object.metadata!;
  const answer = await server.send('PUT', `${item(after!)}?${dryRun}`, render(after!, { resourceVersion }));
  await remove(before!);
  return answer;
}

async function create(object: FixtureObject) {
  const answer = await server.send('POST', `${collection(object)}?${strictly}`, render(object));
  expect(answer.complaints).toEqual([]);
  return answer;
}

async function remove(object: FixtureObject): Promise<void> {
  expect(await server.send('DELETE', item(object))).toMatchObject({ ok: true });
}

/** Paused, so that an operator on this lab leaves it alone. */
function render(object: FixtureObject, metadata: object = {}): string {
  const annotations = { 'valkey.io/paused': 'true' };
  return stringify(
    { apiVersion, ...object, metadata: { ...object.metadata, ...metadata, annotations } },
    { version: '1.1' },
  );
}
