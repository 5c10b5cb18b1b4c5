import { describe, expect, test } from 'vitest';
import { type Bench, exceedsLimit, formatResult, selectBenches } from './bench.ts';

const bench = (name: string): Bench => ({ name, description: '', run: () => Promise.reject(new Error('not run')) });

describe('a benchmark result', () => {
  test('is one line with the ratio to the floor', () => {
    expect(formatResult('lab-start', { ours: 18.2345, floor: 3, unit: 's' })).toBe(
      'bench lab-start ratio=6.08 (ours 18.2 s, floor 3 s)',
    );
  });

  test('keeps large figures out of scientific notation', () => {
    expect(formatResult('x', { ours: 123_456, floor: 123_456, unit: 'ops/s' })).toContain('ours 123000 ops/s');
  });

  test('breaks a promise only above its limit', () => {
    expect(exceedsLimit({ ours: 25, floor: 1, unit: 's', limit: 25 })).toBe(false);
    expect(exceedsLimit({ ours: 25.1, floor: 1, unit: 's', limit: 25 })).toBe(true);
    expect(exceedsLimit({ ours: 1e9, floor: 1, unit: 's' })).toBe(false);
  });
});

describe('selecting benchmarks', () => {
  const all = [bench('a'), bench('b')];

  test('means all of them when none is named', () => {
    expect(selectBenches(all, [])).toEqual(all);
  });

  test('takes the named ones', () => {
    expect(selectBenches(all, ['b'])).toEqual([all[1]]);
  });

  test('refuses an unknown name and lists the known ones', () => {
    expect(() => selectBenches(all, ['c'])).toThrow('no benchmark "c": there is a, b');
  });
});
