import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { buildRecipe, buildRung } from './build-rung.ts';
import { cacheRung } from './cache-rung.ts';
import { type FakeWorld, makeFakeWorld } from './fake-world.ts';

afterEach(() => vi.unstubAllEnvs());

/** A `go` that says its version, and whose builds write down how they were called. */
async function installFakeGo(
  world: FakeWorld,
  version: string,
  build = 'echo compiled >&2; env > "$OUT"; echo "$@" >> "$OUT"',
) {
  const bin = join(world.root, 'bin');
  await mkdir(bin);
  const script = `#!/bin/sh
if [ "$1" = env ]; then echo ${version}; exit; fi
while [ "$1" != -o ]; do shift; done; OUT="$2"
${build}
`;
  await writeFile(join(bin, 'go'), script, { mode: 0o755 });
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
}

test('without go the rung gives nothing and says why', async () => {
  await using world = await makeFakeWorld();
  vi.stubEnv('PATH', world.assets);
  expect(await buildRung('etcd', ['etcd'], world.context)).toEqual({
    files: new Map(),
    reasons: ['go is not installed'],
  });
});

test('a go that is too old is named with the version that is needed', async () => {
  await using world = await makeFakeWorld();
  await installFakeGo(world, 'go1.24.9');
  const { reasons } = await buildRung('etcd', ['etcd'], world.context);
  expect(reasons).toEqual(['go1.24.9 is too old, Go 1.26 or newer is needed']);
});

test('a build is static, of this architecture, and free of the settings of the user', async () => {
  await using world = await makeFakeWorld();
  vi.stubEnv('GOFLAGS', '-mod=vendor');
  await installFakeGo(world, 'go1.26.8');
  const { files } = await buildRung('etcd', ['etcd'], world.context);
  const settings = (await readFile(files.get('etcd')!, 'utf8')).split('\n');
  for (const setting of ['CGO_ENABLED=0', 'GOFLAGS=', 'GOTOOLCHAIN=local', `GOARCH=${world.context.arch}`]) {
    expect(settings).toContain(setting);
  }
});

test('while it builds, a step shows how many packages are compiled', async () => {
  await using world = await makeFakeWorld();
  await installFakeGo(
    world,
    'go1.27rc1',
    'echo "go: downloading x v1" >&2; echo a >&2; echo b >&2; echo built > "$OUT"',
  );
  const note = vi.fn();
  const shown = vi.fn();
  const progress = {
    step: <T>(_title: string, work: (step: { note: typeof note; progress: typeof shown }) => Promise<T>) =>
      work({ note, progress: shown }),
  };
  await buildRung('etcd', ['etcd'], { ...world.context, progress });
  expect(note.mock.calls).toEqual([['1 modules downloaded'], ['2 packages compiled']]);
  expect(shown.mock.calls).toEqual([
    [1, 2, 'packages'],
    [2, 2, 'packages'],
  ]);
});

test('a build that fails says what go said', async () => {
  await using world = await makeFakeWorld();
  await installFakeGo(world, 'go1.26.8', 'echo "no required module provides package" >&2; exit 1');
  await expect(buildRung('etcd', ['etcd'], world.context)).rejects.toMatchObject({
    code: 'BinaryUnavailable',
    message: expect.stringContaining('no required module provides package'),
    remedy: expect.stringContaining('GOPROXY'),
  });
});

test('a full disk during a build is named as such', async () => {
  await using world = await makeFakeWorld();
  await installFakeGo(world, 'go1.26.8', 'echo "write x: no space left on device" >&2; exit 1');
  await expect(buildRung('etcd', ['etcd'], world.context)).rejects.toMatchObject({ code: 'DiskFull' });
});

test('a cached build counts until its module changes', async () => {
  await using world = await makeFakeWorld();
  await installFakeGo(world, 'go1.26.8', 'echo built > "$OUT"');
  await buildRung('etcd', ['etcd'], world.context);
  expect((await cacheRung('etcd', ['etcd'], world.context)).files.has('etcd')).toBe(true);

  const before = await buildRecipe(world.manifest.etcd);
  await writeFile(join(world.manifest.etcd.build.module, 'go.sum'), 'a newer dependency\n');
  expect(await buildRecipe(world.manifest.etcd)).not.toBe(before);
  expect((await cacheRung('etcd', ['etcd'], world.context)).files.size).toBe(0);
});
