import { describe, expect, test } from 'vitest';
import { KubeClient } from './client.ts';
import type { KubeObject, Live } from './object.ts';
import { defineResource } from './resource.ts';
import { writeStatus } from './status-writer.ts';
import { FakeApi } from './testing/fake-api.ts';

type Thing = KubeObject & { status?: { phase: string; note?: string | undefined } };
const things = defineResource<Thing>('valkey.io/v1', 'Thing', 'things');
const PATH = '/apis/valkey.io/v1/namespaces/shop/things/a';

function scene(): { api: FakeApi; client: KubeClient; thing: Live<Thing> } {
  const api = new FakeApi();
  const object = { apiVersion: 'valkey.io/v1', kind: 'Thing', status: { phase: 'Pending' } };
  return { api, client: new KubeClient({ transport: api.transport }), thing: api.put(PATH, object) };
}

describe('writing a status', () => {
  test('sends nothing when it is the same, an undefined property aside', async () => {
    const { api, client, thing } = scene();
    expect(await writeStatus(client, things, thing, { phase: 'Pending', note: undefined })).toBe('unchanged');
    expect(api.requests).toEqual([]);
  });

  test('applies it to the status of the very object and version that was read', async () => {
    const { api, client, thing } = scene();
    expect(await writeStatus(client, things, thing, { phase: 'Running' })).toBe('written');
    const [request] = api.requests;
    expect(request?.path).toBe(`${PATH}/status?fieldManager=valkey-operator&force=true`);
    const { uid, resourceVersion } = thing.metadata;
    expect(JSON.parse(request?.body ?? '')).toEqual({
      apiVersion: 'valkey.io/v1',
      kind: 'Thing',
      metadata: { name: 'a', namespace: 'shop', uid, resourceVersion },
      status: { phase: 'Running' },
    });
  });

  test('is done when whoever waits for it has seen it', async () => {
    const { client, thing } = scene();
    const seen: unknown[] = [];
    const whenWritten = async ({ status }: Thing) => void seen.push(status);
    await writeStatus(client, things, thing, { phase: 'Running' }, { whenWritten });
    expect(seen).toEqual([{ phase: 'Running' }]);
  });

  test('writes nothing over a newer version', async () => {
    const { api, client, thing } = scene();
    api.put(PATH, { ...thing, status: { phase: 'Failed' } });
    expect(await writeStatus(client, things, thing, { phase: 'Running' })).toBe('stale');
    expect(api.get(PATH)).toMatchObject({ status: { phase: 'Failed' } });
  });

  test('says so when the object is gone', async () => {
    const { api, client, thing } = scene();
    api.remove(PATH);
    expect(await writeStatus(client, things, thing, { phase: 'Running' })).toBe('missing');
  });
});
