import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KubeClient } from './client.ts';
import type { Leadership } from './leadership.ts';
import { LeaderElection } from './lease.ts';
import { failure, FakeApi, untilAborted } from './testing/fake-api.ts';
import { FakeClock, settle } from './testing/fake-clock.ts';
import type { Lease } from './resources.ts';
import type { Live } from './object.ts';

const PATH = '/apis/coordination.k8s.io/v1/namespaces/ops/leases/operator';

interface Candidate {
  clock: FakeClock;
  election: LeaderElection;
  terms: Leadership[];
  /** While cut off, its requests never reach the server. */
  isCutOff: boolean;
  stop: () => Promise<void>;
}

function candidate(
  api: FakeApi,
  identity: string,
  clockSkewMs = 0,
  isPredecessor?: (holder: string) => boolean,
): Candidate {
  const clock = new FakeClock(Date.UTC(2026, 10, 15) + clockSkewMs);
  const terms: Leadership[] = [];
  const stop = new AbortController();
  const self: Candidate = {
    clock,
    terms,
    isCutOff: false,
    election: new LeaderElection({
      client: new KubeClient({
        clock,
        transport: (request) => (self.isCutOff ? untilAborted(request.signal) : api.transport(request)),
      }),
      namespace: 'ops',
      name: 'operator',
      identity,
      ...(isPredecessor && { isPredecessor }),
      clock,
      random: () => 0.5,
    }),
    stop: () => {
      stop.abort();
      return done;
    },
  };
  const done = self.election.run(stop.signal, async (leadership) => {
    terms.push(leadership);
    await new Promise((resolve) => leadership.signal.addEventListener('abort', resolve));
  });
  onTestFinished(() => stop.abort());
  return self;
}

function spec(api: FakeApi): Lease['spec'] {
  return (api.get(PATH) as Live<Lease>).spec;
}

/** The same time for all, in small steps. */
async function pass(ms: number, candidates: Candidate[]): Promise<void> {
  for (let left = ms; left > 0; left -= 500) for (const { clock } of candidates) await clock.advance(500);
}

describe('a leader election', () => {
  test('gives a new lease to the first and writes times with six fractional digits', async () => {
    const api = new FakeApi();
    const a = candidate(api, 'a');
    await settle();
    const { epoch } = a.election.leadership ?? {};
    expect(epoch).toBe(Math.floor((Date.UTC(2026, 10, 15) - Date.UTC(2026, 0, 1)) / 1000));
    expect(spec(api)).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-11-15T00:00:00.000000Z',
      renewTime: '2026-11-15T00:00:00.000000Z',
      leaseTransitions: epoch,
    });
  });

  test('does not wait for a predecessor that has certainly ended', async () => {
    const api = new FakeApi();
    const before = candidate(api, 'pod-1_first');
    await settle();
    before.isCutOff = true;
    const after = candidate(api, 'pod-1_second', 0, (holder) => holder.startsWith('pod-1_'));
    await settle();
    expect(after.election.leadership?.epoch).toBe(before.terms[0]!.epoch + 1);
  });

  test('begins above an epoch that somebody has seen, when the lease was set back', async () => {
    const api = new FakeApi();
    const a = candidate(api, 'a');
    await settle();
    const seen = a.terms[0]!.epoch + 40;
    expect(a.election.surpass(seen)).toBe(true);
    expect(a.terms[0]!.isValid()).toBe(false);
    await settle();
    expect(a.election.leadership?.epoch).toBe(seen + 1);
    expect(spec(api)?.leaseTransitions).toBe(seen + 1);
  });

  test('lets no one talk it into an epoch that no lease can have reached', async () => {
    const api = new FakeApi();
    const a = candidate(api, 'a');
    await settle();
    expect(a.election.surpass(2 ** 31)).toBe(false);
    expect(a.terms[0]!.isValid()).toBe(true);
  });

  test('waits for the other when it was told of a higher epoch because another leads', async () => {
    const api = new FakeApi();
    const a = candidate(api, 'a');
    await settle();
    const b = candidate(api, 'b');
    b.election.surpass(a.terms[0]!.epoch);
    await pass(60_000, [a, b]);
    expect(b.terms).toEqual([]);
    expect(a.terms[0]!.isValid()).toBe(true);
  });

  test('leaves a lease alone that is renewed, whatever the clocks say', async () => {
    const api = new FakeApi();
    const a = candidate(api, 'a', -3_600_000);
    await settle();
    const b = candidate(api, 'b', 3_600_000);
    await pass(60_000, [a, b]);
    expect(a.election.leadership?.isValid()).toBe(true);
    expect(b.terms).toEqual([]);
  });

  test('hands over at once, with a later epoch, when the leader is stopped', async () => {
    const api = new FakeApi();
    const a = candidate(api, 'a');
    await settle();
    const b = candidate(api, 'b');
    await settle();
    await a.stop();
    expect(spec(api)).not.toHaveProperty('holderIdentity');
    await pass(3_000, [a, b]);
    expect(b.election.leadership?.epoch).toBe((a.terms[0]?.epoch ?? 0) + 1);
  });

  test('holds the lease until the work of a stopped leader has ended', async () => {
    const api = new FakeApi();
    const clock = new FakeClock();
    const client = new KubeClient({ transport: api.transport, clock });
    const election = new LeaderElection({ client, namespace: 'ops', name: 'operator', identity: 'a', clock });
    const work = Promise.withResolvers<void>();
    const stop = new AbortController();
    const done = election.run(stop.signal, () => work.promise);
    await settle();
    stop.abort();
    await clock.advance(60_000);
    expect(election.leadership?.isValid()).toBe(true);
    expect(spec(api)?.holderIdentity).toBe('a');
    work.resolve();
    await done;
    expect(election.leadership).toBeUndefined();
    expect(spec(api)).not.toHaveProperty('holderIdentity');
    expect(clock.pendingTimers).toBe(0);
  });

  test('lets a frozen leader know by the clock alone, before any timer of it fires', async () => {
    const api = new FakeApi();
    const a = candidate(api, 'a');
    await settle();
    const [term] = a.terms;
    a.clock.freeze(10_000);
    expect(term?.isValid()).toBe(false);
    expect(term?.signal.aborted).toBe(false);
    await a.clock.advance(0);
    expect(term?.signal.aborted).toBe(true);
  });

  test('replaces a leader that cannot reach the server only after it has stopped by itself', async () => {
    const api = new FakeApi();
    const a = candidate(api, 'a');
    await settle();
    const b = candidate(api, 'b');
    await pass(5_000, [a, b]);
    a.isCutOff = true;
    await pass(11_000, [a, b]);
    expect([a.election.leadership, b.election.leadership]).toEqual([undefined, undefined]);
    await pass(7_000, [a, b]);
    expect(b.election.leadership?.epoch).toBe((a.terms[0]?.epoch ?? 0) + 1);
  });

  test('survives failed renewals and a foreign label within its deadline', async () => {
    const api = new FakeApi();
    const a = candidate(api, 'a');
    await settle();
    api.intercept = () => failure(500, 'InternalError');
    await a.clock.advance(5_000);
    api.intercept = () => undefined;
    const lease = api.get(PATH);
    api.put(PATH, { ...lease, metadata: { name: 'operator', labels: { seen: 'yes' } } });
    await a.clock.advance(60_000);
    expect(a.terms).toHaveLength(1);
    expect(a.election.leadership?.isValid()).toBe(true);
  });

  test('survives a renewal that was done though its answer got lost', async () => {
    const api = new FakeApi();
    const a = candidate(api, 'a');
    await settle();
    api.intercept = (request) => {
      api.intercept = () => undefined;
      return api.transport(request).then(() => Promise.reject(new Error('socket hang up')));
    };
    await a.clock.advance(60_000);
    expect(a.terms).toHaveLength(1);
    expect(a.election.leadership?.isValid()).toBe(true);
  });

  test('steps down when the lease is deleted, and never leads with an earlier epoch', async () => {
    const api = new FakeApi();
    const a = candidate(api, 'a');
    await a.clock.advance(60_000);
    api.remove(PATH);
    await a.clock.advance(10_000);
    const [first, second] = a.terms;
    expect(first?.isValid()).toBe(false);
    expect(second?.isValid()).toBe(true);
    expect(second?.epoch).toBeGreaterThan(first?.epoch ?? Infinity);
  });

  test('passes on what its work throws, after giving the lease back', async () => {
    const api = new FakeApi();
    const clock = new FakeClock();
    const client = new KubeClient({ transport: api.transport, clock });
    const election = new LeaderElection({ client, namespace: 'ops', name: 'operator', identity: 'a', clock });
    const lead = (): Promise<void> => Promise.reject(new Error('work'));
    await expect(election.run(new AbortController().signal, lead)).rejects.toThrow('work');
    expect(spec(api)).not.toHaveProperty('holderIdentity');
  });

  test('whatever freezes or is cut off, at most one leads at any moment, and epochs only grow', async () => {
    const trouble = fc.record({
      kind: fc.constantFrom('none', 'freeze', 'cutOff'),
      who: fc.nat({ max: 2 }),
      seconds: fc.integer({ min: 1, max: 30 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(trouble, { maxLength: 12 }), async (troubles) => {
        const api = new FakeApi();
        const all = [candidate(api, 'a'), candidate(api, 'b', 90_000), candidate(api, 'c', -90_000)];
        for (const { kind, who, seconds } of troubles) {
          for (const [index, each] of all.entries()) each.isCutOff = kind === 'cutOff' && index === who;
          for (let tick = 0; tick < seconds * 2; tick += 1) {
            for (const [index, { clock }] of all.entries()) {
              if (kind === 'freeze' && index === who) clock.freeze(500);
              else await clock.advance(500);
            }
            expect(all.filter(({ election }) => election.leadership).length).toBeLessThanOrEqual(1);
          }
        }
        for (const each of all) each.isCutOff = false;
        await pass(30_000, all);
        const leaders = all.filter(({ election }) => election.leadership);
        expect(leaders).toHaveLength(1);
        const epochs = all.flatMap(({ terms }) => terms.map(({ epoch }) => epoch));
        expect(new Set(epochs).size).toBe(epochs.length);
        expect(leaders[0]?.election.leadership?.epoch).toBe(Math.max(...epochs));
        await Promise.all(all.map(({ stop }) => stop()));
      }),
      { numRuns: 20 },
    );
  });
});
