/** `make bench [BENCH=name]`: each benchmark prints one line on stdout; everything else goes to stderr. */
import { globSync } from 'node:fs';
import { type Bench, findBroken, formatFigure, formatResult, type Measurement, selectBenches } from './bench.ts';
import { Testbed } from './support/testbed.ts';

const usage = 'usage: node tests/bench/run.ts [--list] [name ...]';

async function loadBenches(): Promise<Bench[]> {
  const files = globSync('*.bench.ts', { cwd: import.meta.dirname }).toSorted();
  return Promise.all(files.map(async (file) => ((await import(`./${file}`)) as { default: Bench }).default));
}

async function runAll(benches: Bench[]): Promise<void> {
  await using testbed = new Testbed();
  process.once('SIGINT', () => void testbed[Symbol.asyncDispose]().finally(() => process.exit(130)));
  for (const bench of benches) {
    try {
      report(bench.name, await bench.run(testbed));
    } catch (error) {
      console.error(`${bench.name}: ${(error as Error).message}`);
      process.exitCode = 1;
    }
  }
}

function report(name: string, measured: Measurement): void {
  for (const { what, value, unit } of measured.also ?? [])
    console.error(`${name}: ${what} ${formatFigure(value, unit)}`);
  console.log(formatResult(name, measured));
  for (const broken of findBroken(measured)) {
    console.error(`${name}: ${broken}`);
    process.exitCode = 1;
  }
}

const args = process.argv.slice(2);
const benches = await loadBenches();
if (args.includes('--help') || args.includes('--list')) {
  console.log([usage, ...benches.map(({ name, description }) => `  ${name.padEnd(18)} ${description}`)].join('\n'));
} else {
  try {
    await runAll(selectBenches(benches, args));
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 2;
  }
}
