import { readFileSync } from 'node:fs';

const SUMMARY_LINES = 24;
const SUMMARY_COLUMNS = 160;

/** What a suite came to. `problems` holds failures that no test stands for: a crash, a broken hook, no tests at all. */
export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
  problems: string[];
  /** Each test that failed, and why in short: CI shows little more than the end of what was printed. */
  failures: string[];
}

/** The text of a failure in the closing summary: the lines that say what was expected and what came instead. */
export function shorten(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const shown = lines.slice(0, SUMMARY_LINES).map((line) => line.slice(0, SUMMARY_COLUMNS));
  return lines.length > SUMMARY_LINES ? [...shown, '...'].join('\n') : shown.join('\n');
}

/**
 * Judge a vitest run by the tally its reporter wrote and by its exit code. A run that died before it wrote one, that
 * ran nothing, or that failed without a failing test is a failure: silence is never success.
 */
export function judgeRun(tally: Tally | undefined, exitCode: number | null): Tally {
  if (!tally)
    return {
      passed: 0,
      failed: 1,
      skipped: 0,
      problems: [`vitest ended with ${exitCode} and reported nothing`],
      failures: [],
    };
  const problems = [...tally.problems];
  if (tally.passed + tally.failed === 0 && problems.length === 0) problems.push('no test was run');
  if (exitCode !== 0 && tally.failed + problems.length === 0) problems.push(`vitest ended with ${exitCode}`);
  return { ...tally, problems, failed: tally.failed + problems.length };
}

export function readTally(file: string): Tally | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Tally;
  } catch {
    return undefined;
  }
}

/** The one line that people and scripts look for. */
export function closingLine(tallies: Pick<Tally, 'passed' | 'failed'>[]): string {
  const sum = (key: 'passed' | 'failed') => tallies.reduce((total, tally) => total + tally[key], 0);
  return `${sum('passed')} passed, ${sum('failed')} failed`;
}
