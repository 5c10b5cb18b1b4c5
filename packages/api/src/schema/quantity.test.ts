import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseQuantity } from './quantity.ts';

describe('parseQuantity', () => {
  test.each([
    ['500m', 0.5],
    ['2', 2],
    [2, 2],
    ['1Ki', 1024],
    ['1k', 1000],
    ['1.5Gi', 1.5 * 2 ** 30],
    ['1e3', 1000],
    ['1E', 1e18],
    ['-1', -1],
  ])('reads %s', (text, value) => {
    expect(parseQuantity(text)).toBeCloseTo(value);
  });

  test.each(['', '1Gib', 'Gi', '1 Gi', '1gi', '0x10', 'one'])('refuses "%s"', (text) => {
    expect(parseQuantity(text)).toBeUndefined();
  });

  test('keeps the order of numbers, whatever unit they are written in', () => {
    const units = fc.constantFrom('', 'k', 'M', 'Ki', 'Mi', 'Gi');
    fc.assert(
      fc.property(fc.nat(1e6), fc.nat(1e6), units, (a, b, unit) => {
        expect(parseQuantity(`${a}${unit}`)! < parseQuantity(`${b}${unit}`)!).toBe(a < b);
      }),
    );
  });
});
