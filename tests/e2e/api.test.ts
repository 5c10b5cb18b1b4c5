import { apiVersion, kindByName, validate, valkeyCluster } from '@valkey-operator/api';
import { readFixtures, type Fixture, type FixtureObject } from '@valkey-operator/api/fixtures';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiServer, kubectl } from './support/api-server.ts';

/** Every fixture of the API against the real API server, also those of kinds that are not installed yet. */
const namespace = 'api-fixtures';
const strictly = 'fieldValidation=Strict';
const dryRun = `dryRun=All&${strictly}`;

let server: ApiServer;

/** The operator would act on the samples while they are being changed; here only the API server is asked. */
async function setOperators(replicas: 0 | 1): Promise<void> {
  const operator = ['--namespace', 'valkey-system'];
  await kubectl('scale', ...operator, 'deployment/valkey-operator', `--replicas=${replicas}`);
  if (replicas > 0) await kubectl('rollout', 'status', ...operator, 'deployment/valkey-operator', '--timeout=90s');
  else await kubectl('wait', ...operator, '--for=delete', 'pod', '--selector=app.kubernetes.io/name=valkey-operator');
}

beforeAll(async () => {
  await setOperators(0);
  await kubectl('apply', '--server-side', '--force-conflicts', '--recursive', '--filename', 'deploy/crds');
  await kubectl('wait', '--for=condition=Established', 'crd', '--all');
  await kubectl('create', 'namespace', namespace);
  server = await ApiServer.open();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await kubectl('delete', 'namespace', namespace, '--wait=false');
  await setOperators(1);
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

describe('the validator off-cluster', () => {
  const [{ documents }] = readFixtures('ValkeyCluster/full.yaml') as [Fixture];
  const [{ status: _, ...full }] = documents as [FixtureObject];

  test('gives the verdict of the API server for every field that is missing or wrong', async () => {
    const mutations = fieldsOf(full.spec).flatMap((path) => wrong.map((value) => ({ path: ['spec', ...path], value })));
    const verdicts = await mapInBatches(mutations, 16, async ({ path, value }) => {
      const mutant = replaceAt(full, path, value);
      const { ok, complaints } = await server.send('POST', `${collection(full)}?${dryRun}`, JSON.stringify(mutant));
      return { path: path.join('.'), value, ok, complaints, ours: validate(valkeyCluster, mutant) };
    });
    expect(verdicts.filter(({ ok }) => ok).length).toBeGreaterThan(100);
    expect(verdicts.filter(({ ok, ours }) => ok !== (ours.length === 0))).toEqual([]);
  });
});

describe('what may change after creation', () => {
  const updates = readFixtures('*/{accepted,rejected}/*.yaml').filter(({ documents }) => documents.length === 2);

  test.each(updates)('$name', async (fixture) => {
    const { ok, complaints } = await tryUpdate(fixture);
    expect({ ok, complaints }).toEqual({ ok: fixture.expected.length === 0, complaints: fixture.expected });
  });
});

describe('what the operator may report', () => {
  const reports = readFixtures('*/full.yaml').filter(({ documents: [object] }) => object!.status);

  test.each(reports)('$name', async ({ documents: [object] }) => {
    const { resourceVersion } = (await create(object!)).object.metadata!;
    const reported = await server.send(
      'PUT',
      `${item(object!)}/status?${dryRun}`,
      render(object!, { resourceVersion }),
    );
    await remove(object!);
    expect(reported.complaints).toEqual([]);
    expect(reported.object).toMatchObject({ status: object!.status });
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

const wrong = [undefined, '', -1, true, { a: 'b' }];

type Path = readonly string[];

function fieldsOf(value: unknown): Path[] {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, child]) => [[key], ...fieldsOf(child).map((path) => [key, ...path])]);
}

/** A copy in which one field, or item of a list, has another value, or is gone. */
function replaceAt<T>(value: T, [key, ...rest]: Path, replacement: unknown): T {
  const copy = { ...value } as Record<string, unknown>;
  copy[key!] = rest.length === 0 ? replacement : replaceAt(copy[key!], rest, replacement);
  return (Array.isArray(value) ? Object.values(copy).filter((item) => item !== undefined) : copy) as T;
}

async function mapInBatches<T, R>(items: readonly T[], size: number, map: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += size) {
    results.push(...(await Promise.all(items.slice(start, start + size).map(map))));
  }
  return results;
}

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
