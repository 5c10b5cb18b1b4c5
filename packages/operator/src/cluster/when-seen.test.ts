import { configMaps, KubeClient, ResourceCache } from '@valkey-operator/kube';
import { FakeApi, settle } from '@valkey-operator/kube/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { whenSeen, whenShown } from './when-seen.ts';

const COLLECTION = '/api/v1/namespaces/apps/configmaps';

async function aCache() {
  const api = new FakeApi();
  const client = new KubeClient({ transport: api.transport });
  const cache = new ResourceCache({ client, resource: configMaps, namespaces: ['apps'] });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const written = api.put(`${COLLECTION}/a`, {});
  void cache.run(stop.signal);
  await cache.whenSynced();
  await settle();
  return { api, cache, written };
}

async function isDone(promise: Promise<void>): Promise<boolean> {
  let done = false;
  void promise.then(() => (done = true));
  await settle();
  return done;
}

describe('whenSeen', () => {
  test('waits for nothing that is there already', async () => {
    const { cache, written } = await aCache();
    expect(await isDone(whenSeen(cache, written))).toBe(true);
  });

  test('waits for this version or a later one, and not for an earlier one or another object', async () => {
    const { api, cache, written } = await aCache();
    const resourceVersion = String(Number(written.metadata.resourceVersion) + 3);
    const seen = whenSeen(cache, { ...written, metadata: { ...written.metadata, resourceVersion } });
    api.put(`${COLLECTION}/a`, { data: { version: 'too old' } });
    api.put(`${COLLECTION}/b`, {});
    expect(await isDone(seen)).toBe(false);
    api.put(`${COLLECTION}/a`, { data: { version: 'as written' } });
    expect(await isDone(seen)).toBe(true);
  });

  test('waits until an object that was deleted is gone', async () => {
    const { api, cache, written } = await aCache();
    const gone = whenShown(cache, written.metadata, (seen) => seen === undefined);
    expect(await isDone(gone)).toBe(false);
    api.remove(`${COLLECTION}/a`);
    expect(await isDone(gone)).toBe(true);
  });

  test('does not wait for a cache that is behind for good', async () => {
    const { cache, written } = await aCache();
    const future = { ...written, metadata: { ...written.metadata, resourceVersion: '999999' } };
    await expect(whenSeen(cache, future, 1)).resolves.toBeUndefined();
  });
});
