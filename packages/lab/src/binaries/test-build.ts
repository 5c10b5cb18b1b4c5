// `make test-lab-build`: the last rung of the ladder for real. It takes minutes, so it is no part of every test run.
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { consoleProgress } from '../progress.ts';
import { run } from '../run.ts';
import { COMPONENTS, MANIFEST } from './manifest.ts';
import { askVersion } from './program-version.ts';
import { resolveBinaries } from './resolve-binaries.ts';

let passed = 0;
let failed = 0;
function check(what: string, actual: unknown, expected: unknown): void {
  const same = actual === expected;
  if (same) passed++;
  else failed++;
  console.log(`  ${same ? '✓' : '✗'} ${what}${same ? '' : `: ${String(actual)}, expected ${String(expected)}`}`);
}

const cache = await mkdtemp(join(tmpdir(), 'valkey-operator-lab-build-'));
try {
  const progress = consoleProgress();
  const built = await resolveBinaries({ progress, cache, rungs: ['build'] });
  for (const component of COMPONENTS) {
    const { version, programs, product } = MANIFEST[component];
    for (const program of programs) {
      const path = join(built.dir, program);
      check(`${program} says that it is ${version}`, await askVersion(program, path), version);
    }
    const file = await realpath(join(built.dir, programs[0]!));
    const settings = (await run('go', ['version', '-m', file])).stdout;
    check(`${product} is static`, /CGO_ENABLED=0/.test(settings), true);
    check(
      `${product} holds no path of this machine`,
      (await readFile(file)).includes(MANIFEST[component].build.module),
      false,
    );
    console.log(`    sha256 ${basename(file)}`);
  }
  const again = await resolveBinaries({ progress, cache, rungs: ['cache'] });
  check('the next run finds all of them in the cache', again.dir, built.dir);
} catch (error) {
  failed++;
  console.error(error);
} finally {
  await rm(cache, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
