import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseDuration } from './duration.ts';

describe('parseDuration', () => {
  it.each([
    ['1m', 60_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
    ['1mo', 30 * 86_400_000],
    ['1y', 365 * 86_400_000],
    ['90d', 90 * 86_400_000],
  ])('reads %s as %i milliseconds', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '1', 'd', '0d', '-1d', '1.5h', '1 d', '1D', '1w', '1s', '01d', '1d ', '1h30m', '1e3m', '1000000y'])(
    'refuses %j',
    (text) => {
      expect(() => parseDuration(text)).toThrow('not a duration');
    },
  );

  it('grows with its number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_998 }), fc.constantFrom('m', 'h', 'd', 'mo', 'y'), (n, unit) => {
        expect(parseDuration(`${n + 1}${unit}`)).toBeGreaterThan(parseDuration(`${n}${unit}`));
      }),
    );
  });
});
