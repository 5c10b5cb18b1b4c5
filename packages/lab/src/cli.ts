import { enableCompileCache } from 'node:module';
import { cacheDir } from './cache-dir.ts';
import { explainError, LabError } from './errors.ts';

/** The lab's command line. `make lab-up NAME=x` and its like call it; it works as well by itself. */
enableCompileCache(cacheDir('compiled')); // halves the time before the first word
const { readCommandLine } = await import('./commands/command-line.ts');

try {
  const asked = readCommandLine(process.argv.slice(2));
  if ('help' in asked) console.log(asked.help);
  else await asked.run();
} catch (thrown) {
  const error = explainError(thrown);
  if (process.exitCode === 130) {
    console.error('\n  stopped; what this command had begun is removed\n');
  } else if (error instanceof LabError) {
    console.error(`\n  ${error.message}\n  what to do: ${error.remedy}\n`);
    process.exitCode = 1;
  } else {
    throw error;
  }
}
