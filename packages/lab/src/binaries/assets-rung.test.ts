import { readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { assetsRung } from './assets-rung.ts';
import { fakeProgram, makeFakeWorld, pack, sha256 } from './fake-world.ts';

const KUBERNETES = ['kube-apiserver', 'kubelet', 'kubectl'] as const;

test('without KUBEBUILDER_ASSETS the rung gives nothing and says why', async () => {
  await using world = await makeFakeWorld();
  const climb = await assetsRung('etcd', ['etcd'], { ...world.context, assetsDir: undefined });
  expect(climb).toEqual({ files: new Map(), reasons: ['KUBEBUILDER_ASSETS is not set'] });
});

test('a folder that does not exist is a mistake to correct, not a reason to build for minutes', async () => {
  await using world = await makeFakeWorld();
  const assetsDir = join(world.root, 'typo');
  await expect(assetsRung('etcd', ['etcd'], { ...world.context, assetsDir })).rejects.toMatchObject({
    code: 'NotFound',
    message: expect.stringContaining(assetsDir),
  });
});

test('plain programs run from where they are', async () => {
  await using world = await makeFakeWorld();
  const path = await world.addAsset('etcd', fakeProgram('etcd', 'v3.0.1'));
  const climb = await assetsRung('etcd', ['etcd'], world.context);
  expect(climb.files).toEqual(new Map([['etcd', path]]));
});

test('a plain program of another version is left out, because Kubernetes does not support the mix', async () => {
  await using world = await makeFakeWorld();
  const path = await world.addAsset('kube-apiserver', fakeProgram('Kubernetes', 'v1.1.0'));
  const climb = await assetsRung('kubernetes', KUBERNETES, world.context);
  expect(climb.files.size).toBe(0);
  expect(climb.reasons[0]).toBe(`${path} is v1.1.0, the lab needs v1.2.3`);
});

test('a plain file that cannot be run is left out', async () => {
  await using world = await makeFakeWorld();
  const path = await world.addAsset('etcd', 'not a program');
  const climb = await assetsRung('etcd', ['etcd'], world.context);
  expect(climb.reasons[0]).toBe(`${path} does not tell its version, the lab needs v3.0.1`);
});

test('a packed product is unpacked into the store and stands for all its programs', async () => {
  await using world = await makeFakeWorld();
  const product = fakeProgram('hyperkube', 'v1.2.3');
  await world.addAsset('hyperkube-v1.2.3.zst', pack(product));
  const { files } = await assetsRung('kubernetes', KUBERNETES, world.context);
  expect([...files.keys()]).toEqual(KUBERNETES);
  expect(new Set(files.values()).size).toBe(1);
  expect(await readFile(files.get('kubelet')!, 'utf8')).toBe(product);
});

test('plain programs and a packed product are used together', async () => {
  await using world = await makeFakeWorld();
  const plain = await world.addAsset('kubectl', fakeProgram('Client Version:', 'v1.2.3'));
  await world.addAsset('hyperkube-v1.2.3.zst', pack(fakeProgram('hyperkube', 'v1.2.3')));
  const { files } = await assetsRung('kubernetes', KUBERNETES, world.context);
  expect(files.get('kubectl')).toBe(plain);
  expect(files.get('kubelet')).toContain(world.cache);
});

test('a packed product with the wrong content stops with the file, both checksums and what to do', async () => {
  await using world = await makeFakeWorld();
  const path = await world.addAsset('etcd-v3.0.1.zst', pack('something else'));
  const expected = world.manifest.etcd.assets[world.context.arch];
  await expect(assetsRung('etcd', ['etcd'], world.context)).rejects.toMatchObject({
    code: 'ChecksumMismatch',
    message: `${path} unpacks to sha256 ${sha256('something else')}, expected ${expected}`,
    remedy: expect.stringContaining('unset KUBEBUILDER_ASSETS'),
  });
});

test('a truncated packed product stops, and a good one in its place works at once', async () => {
  await using world = await makeFakeWorld();
  const packed = pack(fakeProgram('etcd', 'v3.0.1'));
  const path = await world.addAsset('etcd-v3.0.1.zst', packed);
  await truncate(path, packed.length - 5);
  await expect(assetsRung('etcd', ['etcd'], world.context)).rejects.toMatchObject({ code: 'ChecksumMismatch' });
  await world.addAsset('etcd-v3.0.1.zst', packed);
  expect((await assetsRung('etcd', ['etcd'], world.context)).files.has('etcd')).toBe(true);
});

test('a packed product without a known checksum for this architecture is not used', async () => {
  await using world = await makeFakeWorld();
  await world.addAsset('etcd-v3.0.1.zst', pack(fakeProgram('etcd', 'v3.0.1')));
  const climb = await assetsRung('etcd', ['etcd'], { ...world.context, arch: 'riscv64' });
  expect(climb.files.size).toBe(0);
  expect(climb.reasons[0]).toMatch(/no checksum is known .* on riscv64/);
});
