/** Runs the suites named on the command line (all of them by default) and sums them up: `make test`. */
import { spawn } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { bold, colour, dim, drawStatus, duration, fail, pass, printLine, red } from './test/screen.ts';
import { type Suite, selectSuites } from './test/suites.ts';
import { closingLine, judgeRun, readTally, type Tally } from './test/tally.ts';

const LOGS = '.lab/test';
/** Tests that need more than their message to be understood leave logs here, one folder each. */
const FAILURES = '.lab/failures';
const SHOWN_LINES = 60;

const suites = select(process.argv.slice(2));
rmSync(FAILURES, { recursive: true, force: true });
mkdirSync(LOGS, { recursive: true });

// Ctrl-C reaches the running suite as well, and it may have a lab to remove: wait for it, start no other.
let interrupted = false;
process.on('SIGINT', () => (interrupted = true));

const tallies: Tally[] = [];
for (const suite of suites) {
  if (interrupted) break;
  tallies.push(suite.kind === 'check' ? await runCheck(suite) : await runVitest(suite));
}

const logs = existsSync(FAILURES) ? readdirSync(FAILURES) : [];
if (logs.length > 0) printLine(`\nLogs of what failed:\n${logs.map((name) => `  ${join(FAILURES, name)}`).join('\n')}`);
for (const failure of tallies.flatMap(({ failures }) => failures))
  printLine(`\n${fail} ${failure.replaceAll('\n', '\n    ')}`);
printLine();
printLine(closingLine(tallies));
if (interrupted) process.exitCode = 130;
else if (tallies.some((tally) => tally.failed > 0)) process.exitCode = 1;

function select(names: string[]): Suite[] {
  try {
    return selectSuites(names);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(2);
  }
}

async function runCheck(suite: Suite & { kind: 'check' }): Promise<Tally> {
  const log = join(LOGS, `${suite.name}.log`);
  const start = performance.now();
  drawStatus(`  … ${suite.name}`);
  const code = await execute(suite.command, { log });
  const ok = code === 0;
  printLine(`  ${ok ? pass : fail} ${bold(suite.name.padEnd(12))} ${dim(duration(performance.now() - start))}`);
  if (!ok) {
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
    for (const line of lines.slice(-SHOWN_LINES)) printLine(`    ${line}`);
    if (suite.remedy) printLine(red(`    to put it right: ${suite.remedy}`));
    printLine(red(`    ${suite.command.join(' ')} ended with ${code}; full output in ${log}`));
  }
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0, problems: [], failures: [] };
}

async function runVitest(suite: Suite & { kind: 'vitest' }): Promise<Tally> {
  const log = join(LOGS, `${suite.name}.log`);
  const tallyFile = join(LOGS, `${suite.name}.json`);
  for (const file of [log, tallyFile]) rmSync(file, { force: true });
  const start = performance.now();
  printLine(`  ${bold(suite.name)}`);
  const command = ['vitest', 'run', '--project', suite.project, '--reporter=./scripts/test/reporter.ts'];
  const code = await execute([...command, ...suite.filters], {
    env: { SUITE_LOG: log, SUITE_TALLY: tallyFile },
  });
  const reported = readTally(tallyFile);
  const tally = judgeRun(reported, code);
  const ok = tally.failed === 0;
  for (const problem of tally.problems.slice(reported?.problems.length)) printLine(red(`    ${problem}`));
  const skipped = tally.skipped > 0 ? `, ${tally.skipped} skipped` : '';
  const counts = `${tally.passed} passed, ${tally.failed} failed${skipped}`;
  printLine(
    `  ${ok ? pass : fail} ${bold(suite.name.padEnd(12))} ${dim(duration(performance.now() - start))}  ${counts}`,
  );
  if (!ok && existsSync(log)) printLine(red(`    full output in ${log}`));
  return tally;
}

/** Run to the end; with a `log` its output goes there, without one to the screen. */
async function execute(command: string[], options: { log?: string; env?: NodeJS.ProcessEnv }): Promise<number | null> {
  const [program, ...args] = command;
  const child = spawn(program!, args, {
    stdio: options.log ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...(colour ? {} : { NO_COLOR: '1', FORCE_COLOR: undefined }), ...options.env },
  });
  const exit = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (options.log) {
    const file = createWriteStream(options.log);
    child.stdout?.pipe(file, { end: false });
    child.stderr?.pipe(file, { end: false });
    const code = await exit;
    await finished(file.end());
    return code;
  }
  return exit;
}
