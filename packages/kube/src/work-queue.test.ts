import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KubeError } from './error.ts';
import { FakeClock, settle } from './testing/fake-clock.ts';
import { type Requeue, type RunRecord, WorkQueue } from './work-queue.ts';

const BACKOFF = { baseMs: 100, maxMs: 1_000 };

/** A queue whose runs end when the test says so. */
function controlled(concurrency = 1): {
  queue: WorkQueue;
  clock: FakeClock;
  starts: string[];
  runs: RunRecord[];
  running: Map<string, PromiseWithResolvers<Requeue | void>>;
  onStart: { call: (key: string) => void };
} {
  const clock = new FakeClock();
  const starts: string[] = [];
  const runs: RunRecord[] = [];
  const running = new Map<string, PromiseWithResolvers<Requeue | void>>();
  const onStart: { call: (key: string) => void } = { call: () => {} };
  const queue = new WorkQueue({
    concurrency,
    clock,
    random: () => 1,
    backoff: BACKOFF,
    onRun: (run) => runs.push(run),
    process: (key) => {
      expect(running.has(key), `${key} runs twice at once`).toBe(false);
      starts.push(key);
      onStart.call(key);
      const run = Promise.withResolvers<Requeue | void>();
      running.set(key, run);
      return run.promise.finally(() => running.delete(key));
    },
  });
  return { queue, clock, starts, runs, running, onStart };
}

describe('a work queue', () => {
  test('runs keys in order of arrival, a few at once', async () => {
    const { queue, starts, running } = controlled(2);
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
    expect(starts).toEqual(['a', 'b']);
    expect([queue.depth, queue.running]).toEqual([2, 2]);
    running.get('b')?.resolve();
    await settle();
    expect(starts).toEqual(['a', 'b', 'c']);
  });

  test('coalesces adds, also those during a run, into one more run', async () => {
    const { queue, starts, running } = controlled();
    for (let i = 0; i < 3; i += 1) queue.add('a');
    queue.add('a');
    running.get('a')?.resolve();
    await settle();
    running.get('a')?.resolve();
    await settle();
    expect(starts).toEqual(['a', 'a']);
    expect(queue.size).toBe(0);
  });

  test('lets the earliest of several delayed adds win', async () => {
    const { queue, clock, starts } = controlled();
    queue.addAfter('a', 500);
    queue.addAfter('a', 200);
    queue.addAfter('a', 900);
    await clock.advance(199);
    expect(starts).toEqual([]);
    await clock.advance(1);
    expect(starts).toEqual(['a']);
  });

  test('runs again when a run asks for it', async () => {
    const { queue, clock, starts, running } = controlled();
    queue.add('a');
    running.get('a')?.resolve({ requeueAfterMs: 300 });
    await clock.advance(300);
    expect(starts).toEqual(['a', 'a']);
  });

  test('backs off exponentially from a key that fails, to a limit, and starts over after success', async () => {
    const { queue, clock, running, runs } = controlled();
    queue.add('a');
    const waits: number[] = [];
    for (let i = 0; i < 6; i += 1) {
      running.get('a')?.reject(new Error('no'));
      await settle();
      const before = clock.monotonic();
      while (!running.has('a')) await clock.advance(50);
      waits.push(clock.monotonic() - before);
    }
    expect(waits).toEqual([100, 200, 400, 800, 1_000, 1_000]);
    running.get('a')?.resolve();
    await settle();
    expect(runs.map(({ failures }) => failures)).toEqual([1, 2, 3, 4, 5, 6, 0]);
  });

  test('does not let an event cut a back-off short, but a change of the cause does', async () => {
    const { queue, clock, starts, running } = controlled();
    queue.add('a');
    queue.add('a');
    running.get('a')?.reject(new Error('no'));
    await settle();
    queue.add('a');
    await clock.advance(99);
    expect(starts).toHaveLength(1);
    queue.addAnew('a');
    expect(starts).toHaveLength(2);
    queue.addAnew('a');
    running.get('a')?.reject(new Error('still, but from what it read before the change'));
    await settle();
    expect(starts).toHaveLength(3);
  });

  test('waits at least as long as a throttling server asks', async () => {
    const { queue, clock, starts, running } = controlled();
    queue.add('a');
    running.get('a')?.reject(new KubeError('TooManyRequests', 'slow down', { retryAfterMs: 5_000 }));
    await clock.advance(5_099);
    expect(starts).toHaveLength(1);
    await clock.advance(1);
    expect(starts).toHaveLength(2);
  });

  test('reports how long a key waited and ran', async () => {
    const { queue, clock, running, runs } = controlled();
    queue.add('a');
    queue.add('b');
    await clock.advance(30);
    running.get('a')?.resolve();
    await clock.advance(20);
    running.get('b')?.resolve();
    await settle();
    expect(runs).toMatchObject([
      { key: 'a', waitedMs: 0, ranMs: 30, failures: 0 },
      { key: 'b', waitedMs: 30, ranMs: 20, failures: 0 },
    ]);
  });

  test('closes when the last run has ended, and starts nothing more', async () => {
    const { queue, clock, starts, running } = controlled();
    for (const key of ['a', 'b']) queue.add(key);
    queue.addAfter('c', 10);
    let closed = false;
    const closing = queue.close().then(() => (closed = true));
    await clock.advance(100);
    expect(closed).toBe(false);
    running.get('a')?.reject(new Error('no'));
    await closing;
    queue.add('d');
    await clock.advance(10_000);
    expect(starts).toEqual(['a']);
    expect([queue.size, clock.pendingTimers]).toEqual([0, 0]);
  });
});

type Step =
  | { do: 'add' | 'addAnew' | 'succeed' | 'fail'; key: string }
  | { do: 'addAfter' | 'requeue'; key: string; ms: number }
  | { do: 'advance'; ms: number };

const key = fc.constantFrom('a', 'b', 'c', 'd');
const ms = fc.integer({ min: 0, max: 1_500 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('add', 'addAnew', 'succeed', 'fail'), key }),
  fc.record({ do: fc.constantFrom('addAfter', 'requeue'), key, ms }),
  fc.record({ do: fc.constant('advance'), ms }),
);

test('whatever happens, no add is lost, no key runs twice at once, failures wait, workers are used and idle keys forgotten', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 60 }), async (concurrency, steps) => {
      const { queue, clock, running, onStart } = controlled(concurrency);
      // Per key, what the model knows: whether a run is owed, and before when none may start.
      const owed = new Set<string>();
      const earliest = new Map<string, number>();
      const failures = new Map<string, number>();
      onStart.call = (started) => {
        expect(clock.monotonic()).toBeGreaterThanOrEqual(earliest.get(started) ?? 0);
        owed.delete(started);
      };
      const forgive = (forgiven: string): void => {
        failures.delete(forgiven);
        earliest.delete(forgiven);
      };

      for (const each of steps) {
        if (each.do === 'advance') await clock.advance(each.ms);
        else if (each.do === 'add') {
          owed.add(each.key);
          queue.add(each.key);
        } else if (each.do === 'addAnew') {
          owed.add(each.key);
          forgive(each.key);
          queue.addAnew(each.key);
        } else if (each.do === 'addAfter') {
          // An explicit time is kept even after a failure.
          earliest.delete(each.key);
          owed.add(each.key);
          queue.addAfter(each.key, each.ms);
        } else if (running.has(each.key)) {
          const run = running.get(each.key);
          if (each.do === 'fail') {
            const failed = (failures.get(each.key) ?? 0) + 1;
            failures.set(each.key, failed);
            const wait = Math.min(BACKOFF.maxMs, BACKOFF.baseMs * 2 ** (failed - 1));
            if (!owed.has(each.key)) earliest.set(each.key, clock.monotonic() + wait);
            owed.add(each.key);
            run?.reject(new Error('fails'));
          } else {
            forgive(each.key);
            if (each.do === 'requeue') owed.add(each.key);
            run?.resolve(each.do === 'requeue' ? { requeueAfterMs: each.ms } : undefined);
          }
        }
        await settle();
        expect(queue.running).toBe(running.size);
        expect(queue.running).toBeLessThanOrEqual(concurrency);
        if (queue.depth > 0) expect(queue.running).toBe(concurrency);
      }

      while (queue.size > 0) {
        for (const run of running.values()) run.resolve();
        await clock.advance(100);
      }
      expect([...owed]).toEqual([]);
      expect(clock.pendingTimers).toBe(0);
    }),
  );
});
