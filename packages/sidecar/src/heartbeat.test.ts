import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { heartbeatDelayMs, INTERVAL_MS, startHeartbeat } from './heartbeat.ts';

describe('heartbeats', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const inTheMiddle = () => 0.5;

  it('come at once, and then once a minute', async () => {
    const send = vi.fn(async () => ({ nextMs: undefined }));
    const stop = startHeartbeat({ send, onFailure: () => undefined, random: inTheMiddle });
    await vi.advanceTimersByTimeAsync(0);
    expect(send).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(10 * INTERVAL_MS);
    expect(send).toHaveBeenCalledTimes(11);
    stop();
    await vi.advanceTimersByTimeAsync(10 * INTERVAL_MS);
    expect(send).toHaveBeenCalledTimes(11);
  });

  it('come when the operator has asked for the next', async () => {
    const send = vi.fn(async () => ({ nextMs: 5000 }));
    const stop = startHeartbeat({ send, onFailure: () => undefined, random: inTheMiddle });
    await vi.advanceTimersByTimeAsync(15_000);
    expect(send).toHaveBeenCalledTimes(4);
    stop();
  });

  it('are tried again ever more rarely while the operator is away, and as usual when it is back', async () => {
    const times: number[] = [];
    const onFailure = vi.fn();
    const send = async () => {
      times.push(Date.now());
      if (times.length <= 8) throw new Error('away');
      return { nextMs: undefined };
    };
    const stop = startHeartbeat({ send, onFailure, random: inTheMiddle });
    await vi.advanceTimersByTimeAsync(5 * INTERVAL_MS);
    stop();
    const pauses = times.slice(1).map((time, at) => (time - (times[at] ?? 0)) / 1000);
    expect(pauses.slice(0, 9)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    expect(onFailure).toHaveBeenCalledTimes(8);
  });

  it('keep within a tenth of their interval, whatever chance says', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(40), (random, failures) => {
        const delay = heartbeatDelayMs(failures, undefined, random);
        const base = heartbeatDelayMs(failures, undefined, 0.5);
        expect(Math.abs(delay - base)).toBeLessThanOrEqual(base * 0.1 + 1);
        expect(base).toBeLessThanOrEqual(INTERVAL_MS);
      }),
    );
  });
});
