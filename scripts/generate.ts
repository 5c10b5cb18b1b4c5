/** Runs every generator; with `--check` nothing is written, and anything that would change is an error. */
import { spawnSync } from 'node:child_process';

/** All generated files of the repository come from these. A generator takes `--check`. */
const generators = [
  { what: 'CRDs and API reference', script: 'packages/api/scripts/generate.ts' },
  { what: 'RPC code', script: 'packages/rpc/scripts/generate.ts' },
];

const check = process.argv.includes('--check');
let stale = 0;
for (const { what, script } of generators) {
  const { status, error } = spawnSync(process.execPath, [script, ...(check ? ['--check'] : [])], { stdio: 'inherit' });
  if (error) throw error;
  console.log(`${status === 0 ? '✓' : '✗'} ${what.padEnd(24)} ${script}`);
  if (status !== 0) stale++;
}
if (stale > 0) {
  console.error(check ? `${stale} stale: run \`make generate\` and commit the result` : `${stale} failed`);
  process.exitCode = 1;
}
