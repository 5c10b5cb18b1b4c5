import { execFileSync } from 'node:child_process';
import { readdir, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { silentProgress } from '../progress.ts';
import { type FakeWorld, fakeProgram, makeFakeWorld, pack } from './fake-world.ts';
import { type ResolveOptions, resolveBinaries } from './resolve-binaries.ts';

afterEach(() => vi.unstubAllEnvs());

const resolve = ({ manifest, cache, assets }: FakeWorld, options: Partial<ResolveOptions> = {}) =>
  resolveBinaries({ progress: silentProgress, manifest, cache, assetsDir: assets, ...options });

async function addAllPacked(world: FakeWorld): Promise<void> {
  for (const { product, version } of Object.values(world.manifest)) {
    await world.addAsset(`${product}-${version}.zst`, pack(fakeProgram(product, version)));
  }
}

const say = (dir: string, program: string) => execFileSync(join(dir, program), { encoding: 'utf8' }).trim();

test('one folder holds every program under its own name', async () => {
  await using world = await makeFakeWorld();
  await addAllPacked(world);
  const binaries = await resolve(world);
  expect((await readdir(binaries.dir)).toSorted()).toEqual(['coredns', 'etcd', 'kube-apiserver', 'kubectl', 'kubelet']);
  expect(say(binaries.dir, 'kubelet')).toBe('hyperkube v1.2.3 as kubelet');
  expect(say(binaries.dir, 'etcd')).toBe('etcd v3.0.1 as etcd');
  expect(binaries.versions).toEqual({ kubernetes: 'v1.2.3', etcd: 'v3.0.1', coredns: 'v1.9.0' });
});

test('without the assets folder the next run lives from the cache', async () => {
  await using world = await makeFakeWorld();
  await addAllPacked(world);
  const first = await resolve(world);
  const second = await resolve(world, { assetsDir: '' });
  expect(second.dir).toBe(first.dir);
  expect(new Set(Object.values(first.sources))).toEqual(new Set(['assets']));
  expect(new Set(Object.values(second.sources))).toEqual(new Set(['cache']));
});

test('what the assets folder lacks comes from the next rung, and each program tells from which', async () => {
  await using world = await makeFakeWorld();
  await addAllPacked(world);
  await resolve(world);
  await Promise.all((await readdir(world.assets)).map((name) => rm(join(world.assets, name))));
  await world.addAsset('kube-apiserver', fakeProgram('Kubernetes', 'v1.2.3'));
  await world.addAsset('etcd', fakeProgram('etcd', 'v3.0.1'));
  const { dir, sources } = await resolve(world);
  expect(sources).toEqual({
    'kube-apiserver': 'assets',
    kubelet: 'cache',
    kubectl: 'cache',
    etcd: 'assets',
    coredns: 'cache',
  });
  expect(say(dir, 'kube-apiserver')).toBe('Kubernetes v1.2.3 as kube-apiserver');
});

test('a damaged cache heals from the rung that can make the file again', async () => {
  await using world = await makeFakeWorld();
  await addAllPacked(world);
  const { dir } = await resolve(world);
  await truncate(join(dir, 'etcd'), 3);
  await expect(resolve(world, { rungs: ['cache'] })).rejects.toMatchObject({ code: 'BinaryUnavailable' });
  expect(say((await resolve(world)).dir, 'etcd')).toBe('etcd v3.0.1 as etcd');
});

test('a link that leads elsewhere is put right', async () => {
  await using world = await makeFakeWorld();
  await addAllPacked(world);
  const { dir } = await resolve(world);
  execFileSync('ln', ['-sfn', '/nowhere', join(dir, 'etcd')]);
  await resolve(world);
  expect(say(dir, 'etcd')).toBe('etcd v3.0.1 as etcd');
});

test('many runs at once on an empty cache all end with the same folder', async () => {
  await using world = await makeFakeWorld();
  await addAllPacked(world);
  const all = await Promise.all(Array.from({ length: 5 }, () => resolve(world)));
  expect(new Set(all.map(({ dir }) => dir)).size).toBe(1);
});

test('when no rung works, the error tells what each of them lacked and every way out', async () => {
  await using world = await makeFakeWorld();
  vi.stubEnv('PATH', world.assets);
  await expect(resolve(world, { assetsDir: '' })).rejects.toMatchObject({
    code: 'BinaryUnavailable',
    message:
      'no kube-apiserver, kubelet, kubectl v1.2.3: KUBEBUILDER_ASSETS is not set; not in the cache; ' +
      '127.0.0.1:9 cannot be reached (bad port); go is not installed',
    remedy: expect.stringMatching(/KUBEBUILDER_ASSETS.*hyperkube-v1\.2\.3\.zst.*dl\.k8s\.io.*install Go/),
  });
});
