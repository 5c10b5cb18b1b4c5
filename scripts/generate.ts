/** Runs every generator; with `--check` nothing is written, and anything that would change is an error. */
import { spawnSync } from 'node:child_process';

/** All generated files of the repository come from these. */
const generators = [
  { what: 'CRDs and API reference', script: 'packages/api/scripts/generate.ts' },
  { what: 'RPC code', script: 'packages/rpc/scripts/generate.ts' },
  // Its unit test compares, so it has no check of its own.
  { what: 'Valkey settings', script: 'packages/valkey/scripts/generate-config-catalogue.ts', checkedByTest: true },
];

const check = process.argv.includes('--check');
const wrong = generators
  .filter(({ checkedByTest }) => !(check && checkedByTest))
  .filter(({ what, script }) => {
    const args = check ? [script, '--check'] : [script];
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
    console.log(`${status === 0 ? '✓' : '✗'} ${what.padEnd(24)} ${script}`);
    return status !== 0;
  });
if (wrong.length > 0) {
  console.error(check ? 'stale: run `make generate` and commit the result' : 'a generator failed');
  process.exitCode = 1;
}
