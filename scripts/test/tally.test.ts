import { describe, expect, test } from 'vitest';
import { closingLine, judgeRun, shorten } from './tally.ts';

const clean = { passed: 3, failed: 0, skipped: 0, problems: [], failures: [] };

describe('judging a vitest run', () => {
  test('takes the counts of a run that ended well', () => {
    expect(judgeRun(clean, 0)).toEqual(clean);
  });

  test('counts a run that died before it reported as a failure', () => {
    expect(judgeRun(undefined, null)).toMatchObject({ passed: 0, failed: 1 });
  });

  test('counts a run without a single test as a failure', () => {
    expect(judgeRun({ ...clean, passed: 0 }, 0)).toMatchObject({ failed: 1, problems: ['no test was run'] });
  });

  test('counts a run that skipped everything as a failure', () => {
    expect(judgeRun({ ...clean, passed: 0, skipped: 4 }, 0)).toMatchObject({ failed: 1 });
  });

  test('counts a bad exit code as a failure when no test failed', () => {
    expect(judgeRun(clean, 1)).toMatchObject({ passed: 3, failed: 1, problems: ['vitest ended with 1'] });
  });

  test('does not count a failing test twice', () => {
    expect(judgeRun({ ...clean, failed: 2 }, 1)).toMatchObject({ passed: 3, failed: 2, problems: [] });
  });

  test('counts each failure that has no test of its own', () => {
    expect(judgeRun({ ...clean, failed: 1, problems: ['a.test.ts: does not load'] }, 1).failed).toBe(2);
  });
});

test('the closing line sums all suites and holds nothing else', () => {
  expect(closingLine([clean, { passed: 0, failed: 1 }, { passed: 1, failed: 0 }])).toBe('4 passed, 1 failed');
});

test('a failure is told in a few lines, however much there is to say', () => {
  expect(shorten('expected 3\n\nto be 4')).toBe('expected 3\nto be 4');
  const lines = shorten(Array.from({ length: 100 }, () => 'x'.repeat(1000)).join('\n')).split('\n');
  expect([lines.length, lines[0]?.length, lines.at(-1)]).toEqual([25, 160, '...']);
});
