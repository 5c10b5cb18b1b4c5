/** `make bench [BENCH=name]`: each benchmark prints one line on stdout; everything else goes to stderr. */
import { globSync } from 'node:fs';
import { type Bench, exceedsLimit, formatResult, selectBenches } from './bench.ts';

const usage = 'usage: node tests/bench/run.ts [--list] [name ...]';

async function loadBenches(): Promise<Bench[]> {
  const files = globSync('*.bench.ts', { cwd: import.meta.dirname }).toSorted();
  return Promise.all(files.map(async (file) => ((await import(`./${file}`)) as { default: Bench }).default));
}

async function runAll(benches: Bench[]): Promise<void> {
  for (const bench of benches) {
    try {
      const measured = await bench.run();
      console.log(formatResult(bench.name, measured));
      if (exceedsLimit(measured)) {
        console.error(`${bench.name}: promised within ${measured.limit} ${measured.unit}`);
        process.exitCode = 1;
      }
    } catch (error) {
      console.error(`${bench.name}: ${(error as Error).message}`);
      process.exitCode = 1;
    }
  }
}

const args = process.argv.slice(2);
const benches = await loadBenches();
if (args.includes('--help') || args.includes('--list')) {
  console.log([usage, ...benches.map(({ name, description }) => `  ${name.padEnd(16)} ${description}`)].join('\n'));
} else {
  try {
    await runAll(selectBenches(benches, args));
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 2;
  }
}
