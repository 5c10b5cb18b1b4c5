import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import {
  asBearer,
  type ClusterAccess,
  type ConfigMap,
  configMaps,
  createHttpTransport,
  customResourceDefinitions,
  defineResource,
  EventRecorder,
  isKubeError,
  KubeClient,
  type KubeObject,
  leases,
  loadAccess,
  namespaces,
  ResourceCache,
  reviewAccess,
  reviewToken,
  serviceAccounts,
  writeStatus,
} from '@valkey-operator/kube';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

const namespace = `kube-${process.pid}`;
let access: ClusterAccess;
let client: KubeClient;

beforeAll(async () => {
  access = await loadAccess();
  client = new KubeClient({ transport: createHttpTransport(access) });
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
});

afterAll(() => client.delete(namespaces, { name: namespace }));

async function kubectl(...args: string[]): Promise<string> {
  return (await promisify(execFile)('kubectl', ['-n', namespace, ...args])).stdout;
}

function configMap(name: string, data: Record<string, string> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
}

/** A way to the API server that can be cut, or go silent without being closed. */
async function detour(): Promise<{
  client: KubeClient;
  cut: () => void;
  silence: () => void;
  connections: () => number;
}> {
  const pairs = new Set<[Socket, Socket]>();
  let opened = 0;
  const server = createServer((near) => {
    opened += 1;
    const far = connect(Number(access.server.port || 443), access.server.hostname);
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    near.pipe(far).pipe(near);
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        pairs.delete(pair);
        for (const each of pair) each.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): number => {
    const count = pairs.size;
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    return count;
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  const silence = (): void => {
    for (const [near, far] of pairs) {
      near.unpipe(far).resume();
      far.unpipe(near).resume();
    }
  };
  const { port } = server.address() as AddressInfo;
  const transport = createHttpTransport({
    ...access,
    server: new URL(`https://127.0.0.1:${port}`),
    insecureSkipTlsVerify: true,
    credentials: async () => ({ ...(await access.credentials()), ca: undefined }),
  });
  return { client: new KubeClient({ transport }), cut, silence, connections: () => opened };
}

describe('a cache of a real API server', () => {
  const size = 2_000;

  beforeAll(async () => {
    const names = Array.from({ length: size }, (_, index) => `c${index}`);
    const worker = async (): Promise<void> => {
      for (let name = names.pop(); name; name = names.pop())
        await client.create(configMaps, configMap(name, { v: '0' }));
    };
    await Promise.all(Array.from({ length: 10 }, worker));
  });

  async function mirror(
    by: KubeClient,
  ): Promise<{ cache: ResourceCache<ConfigMap>; changes: string[]; errors: unknown[] }> {
    const errors: unknown[] = [];
    const onError = (error: unknown): number => errors.push(error);
    const cache = new ResourceCache({ client: by, resource: configMaps, namespaces: [namespace], onError });
    const changes: string[] = [];
    const stop = new AbortController();
    const done = cache.run(stop.signal);
    onTestFinished(() => {
      stop.abort();
      return done;
    });
    await cache.whenSynced();
    cache.subscribe(({ type, object }) => changes.push(`${type} ${object.metadata.name}`));
    return { cache, changes, errors };
  }

  /** Everything the server has, and nothing else, at the same versions. */
  async function expectSameAsServer(cache: ResourceCache<ConfigMap>, timeout = 10_000): Promise<void> {
    const versions = (objects: ConfigMap[]): string[] =>
      objects.map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`).toSorted();
    const { items } = await client.list(configMaps, { namespace });
    await expect.poll(() => versions(cache.list()), { timeout }).toEqual(versions(items));
  }

  test('holds all objects, follows changes and tells a re-created object from a changed one', async () => {
    const { cache, changes } = await mirror(client);
    expect(cache.size).toBeGreaterThanOrEqual(size);
    await client.mergePatch(configMaps, { namespace, name: 'c1' }, { data: { v: '1' } });
    await client.delete(configMaps, { namespace, name: 'c2' });
    await client.create(configMaps, configMap('c2'));
    await expectSameAsServer(cache);
    expect(changes).toEqual(['modified c1', 'deleted c2', 'added c2']);
  });

  test('misses nothing when its connections are cut again and again', async () => {
    const way = await detour();
    const { cache, changes, errors } = await mirror(way.client);
    for (let round = 0; round < 5; round += 1) {
      expect(way.cut()).toBeGreaterThan(0);
      await client.mergePatch(configMaps, { namespace, name: `c${10 + round}` }, { data: { v: 'cut' } });
      await expectSameAsServer(cache, 30_000);
    }
    expect(changes.toSorted()).toEqual([10, 11, 12, 13, 14].map((index) => `modified c${index}`));
    expect(errors).not.toEqual([]);
  });

  test('notices within 60 s that its watch is silently dead, and lists anew over another connection', async () => {
    const way = await detour();
    const { cache, errors } = await mirror(way.client);
    await client.mergePatch(configMaps, { namespace, name: 'c20' }, { data: { v: 'before' } });
    await expectSameAsServer(cache);
    const before = way.connections();
    way.silence();
    await client.mergePatch(configMaps, { namespace, name: 'c20' }, { data: { v: 'after' } });
    await expectSameAsServer(cache, 60_000);
    expect(errors).toMatchObject([{ code: 'Expired', message: 'the watch of configmaps went silent' }]);
    expect(way.connections()).toBeGreaterThan(before);
  });
});

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

describe('a lease', () => {
  interface Candidate {
    process: ChildProcess;
    lines: string[];
  }

  function candidate(identity: string): Candidate {
    const script = join(import.meta.dirname, 'support/lease-candidate.ts');
    const child = spawn(process.execPath, [script, namespace, 'operator', identity], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    return { process: child, lines };
  }

  async function holder(): Promise<string | undefined> {
    return (await client.get(leases, { namespace, name: 'operator' }))?.spec?.holderIdentity;
  }

  const epochOf = (line: string | undefined): number => Number(line?.split(' ')[1]);

  test('passes on from a frozen, a stopped and a killed leader, each time with a greater epoch', async () => {
    const a = candidate('a');
    await expect.poll(() => a.lines, { timeout: 10_000 }).toHaveLength(1);
    const b = candidate('b');

    a.process.kill('SIGSTOP');
    await expect.poll(() => b.lines, { timeout: 10_000 }).toHaveLength(1);
    a.process.kill('SIGCONT');
    await expect.poll(() => a.lines, { timeout: 10_000 }).toEqual([a.lines[0], a.lines[0]?.replace('leads', 'ends')]);
    expect(await holder()).toBe('b');

    b.process.kill('SIGTERM');
    await once(b.process, 'exit');
    expect(b.lines.at(-1)).toMatch(/^ends/);
    // Given back, so the other need not wait for it to run out.
    await expect.poll(() => a.lines, { timeout: 2_000 }).toHaveLength(3);

    const c = candidate('c');
    a.process.kill('SIGKILL');
    await expect.poll(() => c.lines, { timeout: 10_000 }).toHaveLength(1);
    const epochs = [a.lines[0], b.lines[0], a.lines[2], c.lines[0]].map(epochOf);
    expect(epochs).toEqual([0, 1, 2, 3].map((later) => epochOf(a.lines[0]) + later));
  });
});
