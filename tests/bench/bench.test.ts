import { describe, expect, test } from 'vitest';
import { type Bench, findBroken, formatResult, median, selectBenches } from './bench.ts';

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
    expect(findBroken({ ours: 25, floor: 1, unit: 's', limit: 25 })).toEqual([]);
    expect(findBroken({ ours: 25.1, floor: 1, unit: 's', limit: 25 })).toEqual([
      'ours is 25.1 s, promised within 25 s',
    ]);
    expect(findBroken({ ours: 1e9, floor: 1, unit: 's' })).toEqual([]);
  });

  test('breaks a promise about the ratio', () => {
    expect(findBroken({ ours: 4, floor: 2, unit: 's', maxRatio: 2 })).toEqual([]);
    expect(findBroken({ ours: 5, floor: 2, unit: 's', maxRatio: 2 })).toEqual(['the ratio is 2.5, promised within 2']);
  });

  test('breaks a promise about anything else that was measured', () => {
    const also = [
      { what: 'writes', value: 1, unit: '', limit: 0 },
      { what: 'reads', value: 9, unit: '' },
    ];
    expect(findBroken({ ours: 1, floor: 1, unit: 's', also })).toEqual(['writes is 1, promised within 0']);
  });

  test('that is not a number keeps no promise', () => {
    expect(findBroken({ ours: Number.NaN, floor: 1, unit: 's', limit: 1 })).toHaveLength(1);
  });
});

describe('the median', () => {
  test('is the middle run, or between the two in the middle', () => {
    expect(median([9, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 100])).toBe(3);
  });

  test('of no runs is an error', () => {
    expect(() => median([])).toThrow(RangeError);
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
