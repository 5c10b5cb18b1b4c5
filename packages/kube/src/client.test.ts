import { describe, expect, test } from 'vitest';
import type { CallRecord } from './api-call.ts';
import { KubeClient } from './client.ts';
import { evictPod } from './evict.ts';
import { configMaps, namespaces, pods, statefulSets } from './resources.ts';
import { reviewToken } from './reviews.ts';
import { failure, FakeApi, json } from './testing/fake-api.ts';
import { FakeClock, settle } from './testing/fake-clock.ts';

const ref = { namespace: 'shop', name: 'a' };
const never = new Promise<never>(() => {});

function scene(): { api: FakeApi; client: KubeClient; clock: FakeClock; calls: CallRecord[] } {
  const api = new FakeApi();
  const clock = new FakeClock();
  const calls: CallRecord[] = [];
  const onCall = (call: CallRecord): number => calls.push(call);
  return { api, clock, calls, client: new KubeClient({ transport: api.transport, clock, random: () => 0.5, onCall }) };
}

describe('the client', () => {
  test('reads an absent object as undefined', async () => {
    const { client } = scene();
    expect(await client.get(configMaps, ref)).toBeUndefined();
  });

  test('applies with one field manager, by force unless told not to', async () => {
    const { api, client } = scene();
    api.put('/apis/apps/v1/namespaces/shop/statefulsets/a', {});
    const object = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: ref } as const;
    await client.apply(statefulSets, object);
    await client.apply(statefulSets, object, { force: false, dryRun: true });
    expect(api.requests.map(({ method, contentType, path }) => `${method} ${contentType} ${path}`)).toEqual([
      'PATCH application/apply-patch+yaml /apis/apps/v1/namespaces/shop/statefulsets/a?fieldManager=valkey-operator&force=true',
      'PATCH application/apply-patch+yaml /apis/apps/v1/namespaces/shop/statefulsets/a?fieldManager=valkey-operator&force=false&dryRun=All',
    ]);
  });

  test('tells a rival field manager from a version conflict', async () => {
    const { api, client } = scene();
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: ref } as const;
    const causes = [{ reason: 'FieldManagerConflict', message: 'conflict with "rival"', field: '.data.x' }];
    api.intercept = () => failure(409, 'Conflict', { details: { causes } });
    await expect(client.apply(configMaps, object)).rejects.toMatchObject({
      code: 'FieldConflict',
      remedy: 'stop',
      causes,
    });
    api.intercept = () => failure(409, 'Conflict');
    await expect(client.apply(configMaps, object)).rejects.toMatchObject({ code: 'Conflict', remedy: 'retry' });
  });

  test('deletes with the preconditions given, in the background by default', async () => {
    const { api, client } = scene();
    expect(await client.delete(configMaps, ref, { uid: 'u', resourceVersion: '7' })).toBe('missing');
    expect(JSON.parse(api.requests[0]?.body ?? '')).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: 'u', resourceVersion: '7' },
      propagationPolicy: 'Background',
    });
  });

  test('refuses to name a namespaced object without its namespace', async () => {
    const { api, client } = scene();
    await expect(client.get(configMaps, { name: 'a' })).rejects.toThrow('ConfigMap a needs a namespace');
    expect(api.requests).toEqual([]);
  });

  test('escapes names in paths and selectors in queries', async () => {
    const { api, client } = scene();
    await client.get(namespaces, { name: '../pods' });
    await client.list(configMaps, { namespace: 'shop', labelSelector: 'a in (b,c)&x' });
    expect(api.requests.map(({ path }) => path)).toEqual([
      '/api/v1/namespaces/..%2Fpods',
      '/api/v1/namespaces/shop/configmaps?labelSelector=a+in+%28b%2Cc%29%26x&limit=500',
    ]);
  });

  test('counts every request by verb, resource and code, never by name', async () => {
    const { client, calls } = scene();
    await client.get(pods, ref);
    await client.mergePatch(pods, ref, {}, { subresource: 'status' }).catch(() => {});
    expect(calls).toEqual([
      { verb: 'get', resource: 'pods', code: 404, ms: 0 },
      { verb: 'patch', resource: 'pods/status', code: 404, ms: 0 },
    ]);
  });

  test('waits as long as a throttling server asks, and a jitter more, and tries again', async () => {
    const { api, client, clock } = scene();
    api.intercept = () => ({ ...failure(429, 'TooManyRequests'), retryAfterMs: 4_000 });
    const found = client.get(configMaps, ref);
    await clock.advance(4_499);
    expect(api.requests).toHaveLength(1);
    api.intercept = () => undefined;
    await clock.advance(1);
    expect(await found).toBeUndefined();
    expect(api.requests).toHaveLength(2);
  });

  test('gives up on a server that throttles for ever', async () => {
    const { api, client, clock } = scene();
    api.intercept = () => failure(429, 'TooManyRequests', { details: { retryAfterSeconds: 1 } });
    const found = client.get(configMaps, ref).catch((error: unknown) => error);
    await clock.advance(30_000);
    expect(await found).toMatchObject({
      code: 'TooManyRequests',
      retryAfterMs: 1_000,
    });
    expect(api.requests).toHaveLength(6);
  });

  test('ends a request that gets no answer with Timeout, and frees its connection', async () => {
    const { api, client, clock, calls } = scene();
    api.intercept = () => never;
    const found = client.get(configMaps, ref, { timeoutMs: 5_000 }).catch((error: unknown) => error);
    await clock.advance(5_000);
    expect(await found).toMatchObject({
      code: 'Timeout',
      remedy: 'wait',
      message: 'get configmaps: no answer within 5000 ms',
    });
    expect(api.requests[0]?.signal.aborted).toBe(true);
    expect(calls).toEqual([{ verb: 'get', resource: 'configmaps', code: 0, ms: 5_000 }]);
  });

  test("ends with the caller's own reason when the caller aborts", async () => {
    const { api, client, clock } = scene();
    api.intercept = () => never;
    const stop = new AbortController();
    const found = client.get(configMaps, ref, { signal: stop.signal }).catch((error: unknown) => error);
    await settle();
    stop.abort('enough');
    expect(await found).toBe('enough');
    expect(clock.pendingTimers).toBe(0);
  });

  test('calls a connection that failed Unreachable', async () => {
    const { api, client } = scene();
    api.intercept = () => Promise.reject(new Error('connect ECONNREFUSED'));
    await expect(client.get(configMaps, ref)).rejects.toMatchObject({ code: 'Unreachable', remedy: 'wait' });
  });

  test("shows a proxy's own words when the answer is not the API server's", async () => {
    const { api, client } = scene();
    api.intercept = () => ({ status: 502, body: html() });
    await expect(client.get(configMaps, ref)).rejects.toMatchObject({
      code: 'ServerError',
      status: 502,
      message: '<h1>Bad Gateway</h1>',
    });
    api.intercept = () => ({ status: 200, body: html() });
    await expect(client.get(configMaps, ref)).rejects.toMatchObject({ code: 'BadResponse' });
  });

  test('lets a watch run on after the deadline for its start', async () => {
    const { api, client, clock } = scene();
    const events = client.watch(configMaps, { resourceVersion: '100', timeoutSeconds: 3_600 });
    const first = events.next();
    await clock.advance(600_000);
    api.put('/api/v1/configmaps/a', {});
    expect((await first).value).toMatchObject({ type: 'ADDED' });
    await events.return();
  });
});

describe('evicting a pod', () => {
  test('tells a disruption budget from a busy server, and asks the first only once', async () => {
    const { api, client, clock } = scene();
    const causes = [{ reason: 'DisruptionBudget', message: 'needs 3 healthy pods' }];
    api.intercept = () => failure(429, 'TooManyRequests', { details: { causes } });
    expect(await evictPod(client, ref)).toBe('blocked');
    expect(api.requests).toHaveLength(1);
    api.intercept = () => failure(429, 'TooManyRequests');
    await expect(evictPod(client, ref)).rejects.toMatchObject({ code: 'TooManyRequests' });
    expect(clock.pendingTimers).toBe(0);
  });

  test('binds it to the pod that was meant', async () => {
    const { api, client } = scene();
    api.intercept = () => json(201, {});
    expect(await evictPod(client, ref, { uid: 'u1' })).toBe('evicted');
    expect(JSON.parse(api.requests[0]?.body ?? '')).toMatchObject({ deleteOptions: { preconditions: { uid: 'u1' } } });
    api.intercept = () => failure(404, 'NotFound');
    expect(await evictPod(client, ref)).toBe('missing');
  });
});

describe('reviewing a token', () => {
  const user = { username: 'system:serviceaccount:shop:carts' };

  test.each([
    ['is authentic and for us', { authenticated: true, audiences: ['operator'], user }, user],
    ['is for another audience', { authenticated: true, audiences: ['other'], user }, undefined],
    ['was not checked for audiences', { authenticated: true, user }, undefined],
    ['is not authentic', { authenticated: false }, undefined],
  ])('answers by whether it %s', async (_case, status, expected) => {
    const { api, client } = scene();
    api.intercept = () => json(201, { status });
    expect(await reviewToken(client, 'token', ['operator'])).toEqual(expected);
  });
});

async function* html(): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from('<h1>Bad Gateway</h1>');
}
