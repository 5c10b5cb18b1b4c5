import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextBound } from './range-bound.ts';

describe('the bound of the next range', () => {
  it.each([
    ['doubles after a short pause', 4000, 49, 8000],
    ['stays after a fair one', 4000, 50, 4000],
    ['stays at the longest that is fair', 4000, 100, 4000],
    ['shrinks by as much as a pause was too long', 20_000, 125, 16_000],
    ['does not go below what a pause of this length depends on', 5000, 250, 4000],
    ['goes below after a very long one: the keys are large', 5000, 400, 1250],
    ['ends at a thousand', 1500, 60_000, 1000],
  ])('%s', (_what, keys, pausedMs, next) => {
    expect(nextBound(keys, pausedMs, 100)).toBe(next);
  });

  it('never grows after a pause that was too long', () => {
    const positive = (max: number) => fc.integer({ min: 1, max });
    fc.assert(
      fc.property(positive(100_000), positive(10_000), positive(500), (keys, tooLongMs, longestMs) => {
        expect(nextBound(keys, longestMs + tooLongMs, longestMs)).toBeLessThanOrEqual(keys);
      }),
    );
  });
});
