import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  asBearer,
  configMaps,
  createHttpTransport,
  customResourceDefinitions,
  defineResource,
  EventRecorder,
  isKubeError,
  KubeClient,
  type KubeObject,
  reviewAccess,
  reviewToken,
  serviceAccounts,
  writeStatus,
} from '@valkey-operator/kube';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorkspace } from './support/kube-workspace.ts';

const { namespace, access, client, configMap } = await openWorkspace('kube');

async function kubectl(...args: string[]): Promise<string> {
  return (await promisify(execFile)('kubectl', ['-n', namespace, ...args])).stdout;
}

describe('server-side apply', () => {
  test('names a rival field manager, and takes the field back by force', async () => {
    await client.apply(configMaps, configMap('shared', { mine: '1' }));
    await kubectl('patch', 'configmap', 'shared', '--field-manager=rival', '-p', '{"data":{"mine":"2","theirs":"3"}}');
    const refused = await client
      .apply(configMaps, configMap('shared', { mine: '1' }), { force: false })
      .catch((e: unknown) => e);
    expect(refused).toMatchObject({ code: 'FieldConflict', remedy: 'stop', causes: [{ field: '.data.mine' }] });
    expect((refused as Error).message).toContain('rival');
    const repaired = await client.apply(configMaps, configMap('shared', { mine: '1' }));
    expect(repaired.data).toEqual({ mine: '1', theirs: '3' });
  });

  test('drops a field that is no longer given, and changes nothing when nothing changed', async () => {
    await client.apply(configMaps, configMap('own', { a: '1', b: '2' }));
    const second = await client.apply(configMaps, configMap('own', { a: '1' }));
    expect(second.data).toEqual({ a: '1' });
    const third = await client.apply(configMaps, configMap('own', { a: '1' }));
    expect(third.metadata.resourceVersion).toBe(second.metadata.resourceVersion);
  });

  test('deletes only the object that was meant', async () => {
    const { metadata } = await client.apply(configMaps, configMap('precious'));
    const ref = { namespace, name: 'precious' };
    const refused = client.delete(configMaps, ref, { uid: 'another' });
    await expect(refused).rejects.toSatisfy((error) => isKubeError(error, 'Conflict'));
    expect(await client.delete(configMaps, ref, { uid: metadata.uid })).toBe('deleted');
    expect(await client.delete(configMaps, ref)).toBe('missing');
  });
});

describe('a status', () => {
  type Thing = KubeObject & { status?: { phase: string; seen?: number } };
  const group = `${namespace}.test`;
  const things = defineResource<Thing>(`${group}/v1`, 'Thing', 'things');
  const phase = { type: 'string' };
  const status = { type: 'object', properties: { phase, seen: { type: 'integer' } } };

  beforeAll(async () => {
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: { openAPIV3Schema: { type: 'object', properties: { status } } },
          },
        ],
      },
    };
    await client.create(customResourceDefinitions, crd);
    await kubectl('wait', '--for=condition=Established', '--timeout=30s', `crd/things.${group}`);
  });

  afterAll(() => client.delete(customResourceDefinitions, { name: `things.${group}` }));

  test('is written when it differs, never over a newer version, and loses what it no longer says', async () => {
    const ref = { namespace, name: 'a' };
    const made = await client.create(things, { apiVersion: `${group}/v1`, kind: 'Thing', metadata: ref });
    expect(await writeStatus(client, things, made, { phase: 'Pending', seen: 1 })).toBe('written');
    expect(await writeStatus(client, things, made, { phase: 'Running' })).toBe('stale');
    const read = await client.get(things, ref);
    expect(read && (await writeStatus(client, things, read, { phase: 'Pending', seen: 1 }))).toBe('unchanged');
    expect(read && (await writeStatus(client, things, read, { phase: 'Running' }))).toBe('written');
    expect((await client.get(things, ref))?.status).toEqual({ phase: 'Running' });
    await client.delete(things, ref);
    expect(read && (await writeStatus(client, things, read, { phase: 'Failed' }))).toBe('missing');
  });
});

describe('tokens', () => {
  test('are vouched for with their owner, for the right audience only, and carry only their own rights', async () => {
    const ref = { namespace, name: 'carts' };
    await client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: ref });
    const request = (audiences?: string[]): Promise<{ status: { token: string } }> =>
      client.postSubresource(serviceAccounts, ref, 'token', {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { audiences },
      });
    const { token } = (await request(['operator'])).status;
    expect(await reviewToken(client, token, ['operator'])).toMatchObject({
      username: `system:serviceaccount:${namespace}:carts`,
    });
    expect(await reviewToken(client, token, ['other'])).toBeUndefined();
    expect(await reviewToken(client, `${token}x`, ['operator'])).toBeUndefined();

    const own = (await request()).status.token;
    const guest = new KubeClient({ transport: createHttpTransport(asBearer(access, own)) });
    const attributes = { verb: 'delete', resource: 'pods', namespace };
    expect(await reviewAccess(client, attributes)).toBe(true);
    expect(await reviewAccess(guest, attributes)).toBe(false);
    await expect(guest.list(configMaps, { namespace })).rejects.toMatchObject({ code: 'Forbidden', remedy: 'stop' });
  });
});

describe('events', () => {
  test('are counted up over a restart of the operator, and kubectl shows them with their object', async () => {
    const about = { ...(await client.apply(configMaps, configMap('eventful'))), apiVersion: 'v1', kind: 'ConfigMap' };
    const note = { type: 'Warning', reason: 'ShardDown', message: 'Shard 0 has no primary' } as const;
    for (const instance of ['operator-0', 'operator-1']) {
      const recorder = new EventRecorder({ client, instance });
      for (let i = 0; i < 3; i += 1) recorder.record(about, note);
      await recorder.close();
    }
    const listed = await kubectl(
      'get',
      'events',
      '--field-selector=reason=ShardDown',
      '-o',
      'jsonpath={.items[*].count}',
    );
    expect(listed).toBe('6');
    expect(await kubectl('describe', 'configmap', 'eventful')).toMatch(
      /Warning\s+ShardDown\s.*\(x6 over .*\)\s+valkey-operator\s+Shard 0 has no primary/,
    );
    expect(await kubectl('get', 'events')).toMatch(
      /\d+s.*Warning\s+ShardDown\s+configmap\/eventful\s+Shard 0 has no primary/,
    );
  });
});
