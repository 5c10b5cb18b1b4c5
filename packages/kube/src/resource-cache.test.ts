import { describe, expect, onTestFinished, test } from 'vitest';
import { KubeClient } from './client.ts';
import type { KubeObject } from './object.ts';
import { ResourceCache } from './resource-cache.ts';
import { configMaps } from './resources.ts';
import { failure, FakeApi } from './testing/fake-api.ts';
import { FakeClock, settle } from './testing/fake-clock.ts';

const PATH = '/api/v1/configmaps';
const PATH_A = `${PATH}/a`;

interface Scene {
  api: FakeApi;
  clock: FakeClock;
  cache: ResourceCache<KubeObject>;
  changes: string[];
  errors: unknown[];
  count: (part: string) => number;
}

function mirror(options: { namespaces?: string[]; api?: FakeApi } = {}): Scene & { stop: () => Promise<void> } {
  const api = options.api ?? new FakeApi();
  const clock = new FakeClock();
  const errors: unknown[] = [];
  const random = (): number => 0.5;
  const client = new KubeClient({ transport: api.transport, clock, random });
  const { namespaces } = options;
  const cache = new ResourceCache<KubeObject>({
    client,
    resource: configMaps,
    namespaces,
    clock,
    random,
    onError: (error) => errors.push(error),
  });
  const changes: string[] = [];
  cache.subscribe(({ type, object }) => changes.push(`${type} ${object.metadata.name} ${object.metadata.uid}`));
  const stop = new AbortController();
  const done = cache.run(stop.signal);
  const end = (): Promise<void> => {
    stop.abort();
    return done;
  };
  onTestFinished(end);
  const count = (part: string): number => api.requests.filter(({ path }) => path.includes(part)).length;
  return { api, clock, cache, changes, errors, count, stop: end };
}

describe('a resource cache', () => {
  test('lists once, page by page, and then follows the watch', async () => {
    const api = new FakeApi();
    for (let i = 0; i < 501; i += 1) api.put(`${PATH}/n${i}`, {}, `u${i}`);
    const { cache, count, changes } = mirror({ api });
    await cache.whenSynced();
    await settle();
    expect(cache.size).toBe(501);
    expect(count('limit=500')).toBe(2);
    api.put(`${PATH}/late`, {}, 'late');
    await settle();
    expect(changes.at(-1)).toBe('added late late');
    expect(count('watch=1')).toBe(1);
  });

  test('fills in the kind and drops managedFields', async () => {
    const api = new FakeApi();
    api.put(PATH_A, { metadata: { name: 'a', managedFields: [{ manager: 'x' }] } });
    const { cache } = mirror({ api });
    await cache.whenSynced();
    expect(cache.get({ name: 'a' })).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(cache.get({ name: 'a' })?.metadata).not.toHaveProperty('managedFields');
  });

  test('goes on from the last bookmark when the server ends the watch, without a list', async () => {
    const { api, clock, count, changes } = mirror();
    await settle();
    api.put('/api/v1/secrets/elsewhere', {});
    api.bookmark();
    await clock.advance(30_000);
    api.endWatches();
    await clock.advance(1_000);
    api.put(PATH_A, {}, 'u1');
    await settle();
    expect(changes).toEqual(['added a u1']);
    expect(count('limit=')).toBe(1);
    expect(count('resourceVersion=101')).toBe(1);
  });

  test('hears after a broken connection what happened meanwhile, each thing once', async () => {
    const { api, clock, changes, count } = mirror();
    await settle();
    api.put(PATH_A, {}, 'u1');
    await settle();
    api.breakWatches();
    api.put(`${PATH}/b`, {}, 'u2');
    await clock.advance(15_000);
    expect(changes).toEqual(['added a u1', 'added b u2']);
    expect(count('limit=')).toBe(1);
    expect(count('resourceVersion=101')).toBe(1);
  });

  test('lists again after 410, and shows delete and re-create in the gap as two changes', async () => {
    const { api, clock, changes, count } = mirror();
    await settle();
    api.put(PATH_A, {}, 'u1');
    await settle();
    api.breakWatches();
    api.remove(PATH_A);
    api.put(PATH_A, {}, 'u2');
    api.compact();
    await clock.advance(15_000);
    expect(changes).toEqual(['added a u1', 'deleted a u1', 'added a u2']);
    expect(count('limit=')).toBe(2);
  });

  test('lists again within 60 s when the watch is silently dead', async () => {
    const { api, clock, cache, errors, changes } = mirror();
    await settle();
    api.silenceWatches();
    api.put(PATH_A, {}, 'u1');
    await clock.advance(60_000);
    expect(changes).toEqual(['added a u1']);
    expect(errors).toMatchObject([{ code: 'Expired', message: 'the watch of configmaps went silent' }]);
    expect(cache.lastEventAge()).toBeLessThan(60_000);
  });

  test('measures the age of the last news', async () => {
    const { api, clock, cache } = mirror();
    await settle();
    await clock.advance(20_000);
    expect(cache.lastEventAge()).toBe(20_000);
    api.bookmark();
    await settle();
    expect(cache.lastEventAge()).toBe(0);
  });

  test('survives a handler that throws, and tells the others', async () => {
    const { api, cache, errors, changes } = mirror();
    const heard: string[] = [];
    cache.subscribe(() => {
      throw new Error('handler');
    });
    cache.subscribe(({ type }) => heard.push(type));
    await settle();
    api.put(PATH_A, {}, 'u1');
    api.remove(PATH_A);
    await settle();
    expect(changes).toEqual(['added a u1', 'deleted a u1']);
    expect(heard).toEqual(['added', 'deleted']);
    expect(errors).toHaveLength(2);
  });

  test('backs off from a server that fails, and recovers when it does', async () => {
    const api = new FakeApi();
    api.intercept = () => failure(503, 'ServiceUnavailable');
    const { clock, cache, errors, count } = mirror({ api });
    await clock.advance(120_000);
    // The waits are half of 0.5, 1, 2, 4, 8 and then 15 s: the sixth try after 7.75 s, fourteen more in the other 112 s.
    expect(count('configmaps')).toBe(20);
    expect(errors).toHaveLength(20);
    api.intercept = () => undefined;
    await clock.advance(15_000);
    expect(cache.hasSynced).toBe(true);
  });

  test('backs off from a watch that ends at once', async () => {
    const { api, clock, count } = mirror();
    api.intercept = ({ path }) => (path.includes('watch=1') ? { status: 200, body: nothing() } : undefined);
    await clock.advance(60_000);
    expect(count('watch=1')).toBeLessThan(20);
  });

  test('lists every half hour even if nothing seems lost', async () => {
    const { api, clock, count } = mirror();
    await settle();
    for (let elapsed = 0; elapsed < 31 * 60_000; elapsed += 30_000) {
      await clock.advance(30_000);
      api.endWatches();
    }
    await clock.advance(1);
    expect(count('limit=')).toBe(2);
  });

  test('mirrors several namespaces and is synced when all are listed', async () => {
    const api = new FakeApi();
    api.put('/api/v1/namespaces/one/configmaps/a', {}, 'u1');
    api.put('/api/v1/namespaces/two/configmaps/a', {}, 'u2');
    api.intercept = ({ path }) => (path.includes('/two/') ? failure(403, 'Forbidden') : undefined);
    const { cache, clock } = mirror({ api, namespaces: ['one', 'two'] });
    await settle();
    expect([cache.size, cache.hasSynced]).toEqual([1, false]);
    api.intercept = () => undefined;
    await clock.advance(15_000);
    await cache.whenSynced();
    expect(cache.list().map(({ metadata }) => metadata.uid)).toEqual(['u1', 'u2']);
    expect(cache.get({ namespace: 'two', name: 'a' })?.metadata.uid).toBe('u2');
  });

  test('ends with its signal and leaves no timer behind', async () => {
    const { clock, stop } = mirror();
    await settle();
    await stop();
    expect(clock.pendingTimers).toBe(0);
  });
});

async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {}
