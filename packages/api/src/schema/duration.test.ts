import { describe, expect, test } from 'vitest';
import { parseDuration } from './duration.ts';

describe('parseDuration', () => {
  test.each([
    ['1m', 60_000],
    ['12h', 43_200_000],
    ['90d', 7_776_000_000],
    ['1mo', 2_592_000_000],
    ['1y', 31_536_000_000],
  ])('reads %s', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  test.each(['', '0m', '10', '10s', '1.5h', ' 1h', '1h30m'])('refuses "%s"', (text) => {
    expect(() => parseDuration(text)).toThrow(RangeError);
  });
});
