import { describe, expect, test } from 'vitest';
import { KubeClient } from './client.ts';
import { type EventNote, EventRecorder } from './event-recorder.ts';
import type { Live } from './object.ts';
import { failure, FakeApi } from './testing/fake-api.ts';
import { FakeClock, settle } from './testing/fake-clock.ts';

const EVENTS = '/api/v1/namespaces/shop/events';

function cluster(name = 'carts'): Live {
  const metadata = { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '1' };
  return { apiVersion: 'valkey.io/v1alpha1', kind: 'ValkeyCluster', metadata };
}

function note(message = 'Shard 0 failed over', type: EventNote['type'] = 'Normal'): EventNote {
  return { type, reason: 'FailedOver', message };
}

function recording(api = new FakeApi()): {
  api: FakeApi;
  clock: FakeClock;
  recorder: EventRecorder;
  dropped: unknown[];
  written: () => object[];
} {
  const clock = new FakeClock();
  const dropped: unknown[] = [];
  const client = new KubeClient({ transport: api.transport, clock });
  const onDrop = (_note: EventNote, cause: unknown): number => dropped.push(cause);
  const recorder = new EventRecorder({ client, instance: 'operator-0', onDrop, clock, random: () => 1 });
  const written = (): object[] => {
    const names = new Set(api.requests.flatMap(({ body }) => /"name":"(carts\.[^"]+)"/.exec(body ?? '')?.[1] ?? []));
    return [...names].flatMap((name) => api.get(`${EVENTS}/${name}`) ?? []);
  };
  return { api, clock, recorder, dropped, written };
}

describe('an event recorder', () => {
  test('writes an event that kubectl describe shows with its object', async () => {
    const { recorder, written } = recording();
    recorder.record(cluster(), note());
    await settle();
    expect(written()).toMatchObject([
      {
        kind: 'Event',
        metadata: { namespace: 'shop' },
        involvedObject: { kind: 'ValkeyCluster', name: 'carts', namespace: 'shop', uid: 'uid-carts' },
        type: 'Normal',
        reason: 'FailedOver',
        message: 'Shard 0 failed over',
        count: 1,
        firstTimestamp: '2026-11-15T00:00:00Z',
        source: { component: 'valkey-operator' },
      },
    ]);
  });

  test('counts repeats into one event, written at most every ten seconds', async () => {
    const { api, clock, recorder, written } = recording();
    for (let second = 0; second < 60; second += 1) {
      recorder.record(cluster(), note());
      await clock.advance(1_000);
    }
    await clock.advance(10_000);
    expect(written()).toMatchObject([{ count: 60, lastTimestamp: '2026-11-15T00:00:59Z' }]);
    expect(api.requests.length).toBeLessThanOrEqual(7);
  });

  test('counts up the event that its predecessor wrote', async () => {
    const api = new FakeApi();
    for (const { recorder } of [recording(api), recording(api)]) {
      recorder.record(cluster(), note());
      await settle();
    }
    expect(recording(api).written()).toMatchObject([{ count: 2 }]);
  });

  test('writes anew what the server has let expire', async () => {
    const { api, clock, recorder, written } = recording();
    recorder.record(cluster(), note());
    await clock.advance(20_000);
    for (const { path, method, body } of api.requests) {
      if (method === 'POST') api.remove(`${path.split('?')[0]}/${JSON.parse(body ?? '').metadata.name}`);
    }
    recorder.record(cluster(), note());
    await clock.advance(20_000);
    expect(written()).toMatchObject([{ count: 1 }]);
  });

  test('lets an object have a burst of different events and then one every ten seconds', async () => {
    const { clock, recorder, dropped, written } = recording();
    for (let i = 0; i < 120; i += 1) recorder.record(cluster(), note(`offset ${i}`));
    await clock.advance(10_000);
    recorder.record(cluster(), note('offset 121'));
    await settle();
    expect(written()).toHaveLength(101);
    expect(dropped).toHaveLength(20);
  });

  test('tells of the end of a roll of many pods, each of which has events of its own', async () => {
    const { recorder, dropped, written } = recording();
    const reasons = ['PodReplaced', 'ReplicaAttached', 'PrimaryHandedOver'];
    const told = reasons.flatMap((reason) =>
      Array.from({ length: 100 }, (_, pod) => ({ ...note(`of carts-${pod}`), reason })),
    );
    for (const each of [...told, { ...note('Upgrade has ended.'), reason: 'OrchestrationFinished' }])
      recorder.record(cluster(), each);
    await settle();
    expect(written()).toHaveLength(301);
    expect(dropped).toEqual([]);
  });

  test('keeps what it cannot write while the server is away', async () => {
    const { api, clock, recorder, dropped, written } = recording();
    api.intercept = () => failure(503, 'ServiceUnavailable');
    recorder.record(cluster(), note());
    recorder.record(cluster(), note('another'));
    await clock.advance(600_000);
    expect(written()).toEqual([]);
    api.intercept = () => undefined;
    await clock.advance(30_000);
    expect(written()).toHaveLength(2);
    expect(dropped).toEqual([]);
  });

  test('gives up what the server refuses, and goes on', async () => {
    const { api, recorder, dropped, written } = recording();
    api.intercept = ({ body }) => (body?.includes('refused') ? failure(403, 'Forbidden') : undefined);
    recorder.record(cluster(), note('refused'));
    recorder.record(cluster(), note());
    await settle();
    expect(written()).toHaveLength(1);
    expect(dropped).toMatchObject([{ code: 'Forbidden' }]);
  });

  test('keeps a bounded number of events while it cannot write', () => {
    const { api, recorder, dropped } = recording();
    api.intercept = () => new Promise(() => {});
    for (let i = 0; i < 3_000; i += 1) recorder.record(cluster(`c${i}`), note());
    // All but those remembered and the one on its way.
    expect(dropped).toHaveLength(3_000 - 2_048 - 1);
  });

  test('writes what is left when it closes, and does not wait for ever', async () => {
    const { api, clock, recorder, written, dropped } = recording();
    recorder.record(cluster(), note());
    await settle();
    recorder.record(cluster(), note());
    await recorder.close();
    expect(written()).toMatchObject([{ count: 2 }]);

    const other = recording(api);
    api.intercept = () => new Promise(() => {});
    other.recorder.record(cluster(), note());
    const closing = other.recorder.close();
    await other.clock.advance(3_000);
    await closing;
    expect(other.dropped).toHaveLength(1);
    expect([dropped.length, clock.pendingTimers]).toEqual([0, 0]);
  });
});
