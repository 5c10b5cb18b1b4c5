import { createHash } from 'node:crypto';
import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { BlobStore } from './blob-store.ts';
import { layoutEntries, listBlobs, MEDIA_TYPE, writeManifest, writeOciImage, type Arch } from './oci-image.ts';
import { tar } from './tar.ts';

const digestOf = (content: Uint8Array) => `sha256:${createHash('sha256').update(content).digest('hex')}`;

async function readJson(store: BlobStore, digest: string) {
  return JSON.parse(await readFile(store.path(digest), 'utf8'));
}

async function writeSample(store: BlobStore, arch: Arch = 'amd64') {
  const layer = await store.write(tar([{ kind: 'file', path: 'hello', content: Buffer.from(`hello ${arch}`) }]));
  const config = { user: '65532:65532', entrypoint: ['/hello'], env: { LC_ALL: 'C' }, workingDir: '/data' };
  return { layer, manifest: await writeManifest(store, { arch, config, layers: [layer] }) };
}

test('a manifest leads to its config and layers, and the config says how the container starts', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'oci-test-'));
  const store = new BlobStore(dir.path);
  const { layer, manifest } = await writeSample(store);

  const written = await readJson(store, manifest.digest);
  expect(written.layers).toEqual([{ mediaType: MEDIA_TYPE.layer, ...layer }]);
  expect(await readJson(store, written.config.digest)).toEqual({
    os: 'linux',
    architecture: 'amd64',
    config: {
      User: '65532:65532',
      Entrypoint: ['/hello'],
      Env: ['PATH=/usr/local/bin:/usr/bin:/bin', 'LC_ALL=C'],
      WorkingDir: '/data',
    },
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
  });
  for (const { digest, size } of await listBlobs(store, manifest)) {
    const content = await readFile(store.path(digest));
    expect([digestOf(content), content.length]).toEqual([digest, size]);
  }
});

test('the same recipe gives the same digest in another place', async () => {
  await using one = await mkdtempDisposable(join(tmpdir(), 'oci-test-'));
  await using other = await mkdtempDisposable(join(tmpdir(), 'oci-test-'));
  const digests = [];
  for (const { path } of [one, other]) digests.push((await writeSample(new BlobStore(path))).manifest.digest);
  expect(digests[0]).toBe(digests[1]);
});

test('an archive holds a blob once, however many images share it', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'oci-test-'));
  const store = new BlobStore(dir.path);
  const { manifest } = await writeSample(store);
  const blobs = await listBlobs(store, manifest);
  const entries = layoutEntries(store, [manifest], [...blobs, ...blobs]);
  expect(entries.map(({ path }) => path).toSorted()).toEqual(
    ['index.json', 'oci-layout', ...blobs.map(({ digest }) => `blobs/${digest.replace(':', '/')}`)].toSorted(),
  );
  await expect(buffer(tar(entries))).resolves.toBeInstanceOf(Buffer);
});

test('a release names one index with an image per architecture, in compressed layers', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'oci-test-'));
  const store = new BlobStore(join(dir.path, 'cache'));
  const out = join(dir.path, 'release');
  const samples = [await writeSample(store, 'amd64'), await writeSample(store, 'arm64')];
  const images = samples.map(({ manifest }) => manifest);
  await writeOciImage({ store, images, ref: 'registry.example:5000/valkey-operator/operator:1.2.3', out });

  const layout = new BlobStore(out);
  expect(JSON.parse(await readFile(join(out, 'oci-layout'), 'utf8'))).toEqual({ imageLayoutVersion: '1.0.0' });
  const { manifests } = JSON.parse(await readFile(join(out, 'index.json'), 'utf8'));
  expect(manifests).toMatchObject([
    { mediaType: MEDIA_TYPE.index, annotations: { 'org.opencontainers.image.ref.name': '1.2.3' } },
  ]);
  const index = await readJson(layout, manifests[0].digest);
  const platforms = [];
  for (const { digest, platform } of index.manifests) {
    platforms.push(platform.architecture);
    const { config, layers } = await readJson(layout, digest);
    const content = gunzipSync(await readFile(layout.path(layers[0].digest)));
    expect((await readJson(layout, config.digest)).rootfs.diff_ids).toEqual([digestOf(content)]);
  }
  expect(platforms).toEqual(['amd64', 'arm64']);
  for (const name of await readdir(join(out, 'blobs', 'sha256'))) {
    expect(digestOf(await readFile(join(out, 'blobs', 'sha256', name)))).toBe(`sha256:${name}`);
  }
});
