import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TargetSilent } from './move.ts';
import { Pace } from './pace.ts';

/** A pace of batches that take as long as they say, and the pauses that it made. */
function pacing() {
  const pauses: number[] = [];
  let now = 0;
  const pause = (ms: number) => Promise.resolve(void pauses.push(ms));
  const pace = new Pace({ now: () => now, pause });
  const take = (ms: number) => pace.run(() => Promise.resolve(void (now += ms)));
  return { pace, pauses, take };
}

describe('the pace of keys', () => {
  it.each([
    ['grow after one that took less than half of what it may', 4, 125, []],
    ['stay after one that took about what it may', 6, 100, []],
    ['halve after one that took too long, and wait for as long as it was too long', 30, 50, [20]],
    ['wait for no longer than half a second', 60_000, 50, [500]],
  ])('lets batches %s', async (_what, ms, size, paused) => {
    const { pace, pauses, take } = pacing();
    await take(ms);
    expect(pace.batchSize).toBe(size);
    expect(pauses).toEqual(paused);
  });

  it('stays within its bounds whatever it measures', async () => {
    const measured = fc.array(fc.nat(200), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(measured, async (durations) => {
        const { pace, take } = pacing();
        for (const ms of durations) await take(ms);
        expect(pace.batchSize).toBeGreaterThanOrEqual(5);
        expect(pace.batchSize).toBeLessThanOrEqual(1000);
      }),
    );
  });

  it('moves one batch at a time, and the next when this one is safe', async () => {
    const { pace } = pacing();
    const told: string[] = [];
    const tell = (word: string) => () => Promise.resolve(void told.push(word));
    await Promise.all([pace.run(tell('one'), tell('safe')), pace.run(tell('two'))]);
    expect(told).toEqual(['one', 'safe', 'two']);
  });
});

describe('nothing more moves', () => {
  const fail = (reason: Error) => () => Promise.reject(reason);

  it.each([
    ['after a target that was silent', (pace: Pace, error: Error) => pace.run(fail(error))],
    ['after what could not be made safe', (pace: Pace, error: Error) => pace.run(() => Promise.resolve(), fail(error))],
  ])('%s', async (_what, runInto) => {
    const { pace, take } = pacing();
    const error = new TargetSilent('no answer');
    await expect(runInto(pace, error)).rejects.toBe(error);
    await expect(take(1)).rejects.toBe(error);
  });

  it('but what failed for its own reasons keeps nothing else from moving', async () => {
    const { pace, take } = pacing();
    await expect(pace.run(fail(new Error('this key')))).rejects.toThrow('this key');
    await expect(take(1)).resolves.toBeUndefined();
  });
});
