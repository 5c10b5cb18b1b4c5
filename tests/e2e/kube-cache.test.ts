import { type ConfigMap, configMaps, type KubeClient, ResourceCache } from '@valkey-operator/kube';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { detour } from './support/detour.ts';
import { openWorkspace } from './support/kube-workspace.ts';

const { namespace, access, client, configMap } = await openWorkspace('kube-cache');

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
    const way = await detour(access);
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
    const way = await detour(access);
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
