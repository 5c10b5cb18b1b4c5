import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LabError } from '../errors.ts';
import type { Step } from '../progress.ts';
import { run } from '../run.ts';
import type { Arch, Component } from './manifest.ts';
import { type Rung, allIn, nothing, storeKey } from './rung.ts';

/** Build the product of a component with Go, from the module proxy. Kubernetes takes about seven minutes on two cores. */
export const buildRung: Rung = async (name, wanted, { manifest, arch, store, progress }) => {
  const component = manifest[name];
  const { product, version } = component;
  const obstacle = await findObstacle(component);
  if (obstacle) return nothing(obstacle);

  const key = storeKey.build(component, arch, await buildRecipe(component));
  const file = await progress.step(`Build ${product} ${version}`, (step) =>
    store.provide(key, {
      make: (path) => build(component, arch, path, step),
      onWait: () => step.note('another run is building it'),
    }),
  );
  return allIn(file, wanted);
};

/** Identifies what goes into a build: the module's files (go.sum pins every dependency by checksum) and the flags. */
export async function buildRecipe({ build: { module, ldflags } }: Component): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['main.go', 'go.mod', 'go.sum']) hash.update(await readFile(join(module, file)));
  return hash.update(JSON.stringify([BUILD_FLAGS, ldflags])).digest('hex');
}

/** No path, no date and no version control state in the product: the same Go and the same module give the same bytes. */
const BUILD_FLAGS = ['-v', '-trimpath', '-buildvcs=false'];

/** The settings of the user's own Go projects must not leak in, and a lab never downloads another Go behind the user's back. */
const BUILD_ENV = { CGO_ENABLED: '0', GOOS: 'linux', GOFLAGS: '', GOWORK: 'off', GOTOOLCHAIN: 'local' };

async function build({ build: recipe, product }: Component, arch: Arch, path: string, step: Step): Promise<void> {
  let compiled = 0;
  let downloaded = 0;
  try {
    await run('go', ['build', ...BUILD_FLAGS, '-ldflags', ['-s', '-w', ...recipe.ldflags].join(' '), '-o', path, '.'], {
      cwd: recipe.module,
      env: { ...process.env, ...BUILD_ENV, GOARCH: arch },
      onLine(line) {
        if (line.startsWith('go: ')) step.note(`${++downloaded} modules downloaded`);
        else step.progress(++compiled, recipe.packages, 'packages');
      },
    });
    step.note(`${compiled} packages compiled`);
  } catch (error) {
    const remedy = 'see what go said; it needs its module proxy (GOPROXY) or a filled module cache, and 6 GB of disk';
    throw new LabError('BinaryUnavailable', `${product} could not be built: ${messageOf(error)}`, remedy, error);
  }
}

async function findObstacle({ build: { module } }: Component): Promise<string | undefined> {
  const needed = /^go (\d+\.\d+)/m.exec(await readFile(join(module, 'go.mod'), 'utf8'))?.[1] ?? '1.0';
  // Asked outside of any module: inside one, a Go that is too old answers with an error instead of its version.
  const installed = await run('go', ['env', 'GOVERSION'], {
    cwd: tmpdir(),
    env: { ...process.env, ...BUILD_ENV },
  }).then(
    ({ stdout }) => stdout.trim(),
    (error: unknown) => {
      if (error instanceof LabError && error.code === 'MissingTool') return undefined;
      throw error;
    },
  );
  if (installed === undefined) return 'go is not installed';
  return isOlder(installed, needed) ? `${installed} is too old, Go ${needed} or newer is needed` : undefined;
}

function isOlder(installed: string, needed: string): boolean {
  const [major = 0, minor = 0] = installed
    .replace(/^go/, '')
    .split('.')
    .map((part) => Number.parseInt(part, 10));
  const [neededMajor = 0, neededMinor = 0] = needed.split('.').map(Number);
  return major < neededMajor || (major === neededMajor && minor < neededMinor);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
