import { createReadStream } from 'node:fs';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createGzip } from 'node:zlib';
import { BlobStore, writeWhole, type Blob } from './blob-store.ts';
import type { TarEntry } from './tar.ts';

export type Arch = 'amd64' | 'arm64';

export const MEDIA_TYPE = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
  gzipLayer: 'application/vnd.oci.image.layer.v1.tar+gzip',
} as const;

export interface Descriptor extends Blob {
  mediaType: string;
  platform?: { os: 'linux'; architecture: Arch };
  annotations?: Record<string, string>;
}

interface Manifest {
  schemaVersion: 2;
  mediaType: string;
  config: Descriptor;
  layers: Descriptor[];
}

/** How a container of the image starts when the pod does not say otherwise. */
export interface ImageConfig {
  /** Numeric, so that `runAsNonRoot` can be checked by the kubelet. */
  user: string;
  entrypoint?: string[];
  cmd?: string[];
  env?: Record<string, string>;
  workingDir?: string;
  labels?: Record<string, string>;
}

/** Write the config and manifest over layers that the store already holds; returns the manifest's descriptor. */
export async function writeManifest(
  store: BlobStore,
  { arch, config, layers }: { arch: Arch; config: ImageConfig; layers: Blob[] },
): Promise<Descriptor> {
  const platform = { os: 'linux', architecture: arch } as const;
  const configBlob = await store.writeJson({
    ...platform,
    config: {
      User: config.user,
      Entrypoint: config.entrypoint,
      Cmd: config.cmd,
      Env: Object.entries({ PATH: '/usr/local/bin:/usr/bin:/bin', ...config.env }).map(
        ([name, value]) => `${name}=${value}`,
      ),
      WorkingDir: config.workingDir ?? '/',
      Labels: config.labels,
    },
    // Layers are kept uncompressed, so a layer's digest is also the digest of its content.
    rootfs: { type: 'layers', diff_ids: layers.map((layer) => layer.digest) },
  });
  const manifest = await store.writeJson({
    schemaVersion: 2,
    mediaType: MEDIA_TYPE.manifest,
    config: { mediaType: MEDIA_TYPE.config, ...configBlob },
    layers: layers.map(({ digest, size }) => ({ mediaType: MEDIA_TYPE.layer, digest, size })),
  } satisfies Manifest);
  return { mediaType: MEDIA_TYPE.manifest, ...manifest, platform };
}

/** Every blob of an image, the manifest itself first. */
export async function listBlobs(store: BlobStore, image: Blob): Promise<Blob[]> {
  const { config, layers } = await readManifest(store, image);
  return [image, config, ...layers];
}

/** The archive that `ctr images import` reads: an OCI layout naming each image, with the given blobs inside. */
export function layoutEntries(store: BlobStore, index: Descriptor[], blobs: Blob[]): TarEntry[] {
  const json = (path: string, value: unknown): TarEntry => ({
    kind: 'file',
    path,
    content: Buffer.from(JSON.stringify(value)),
  });
  const distinct = new Map(blobs.map((blob) => [blob.digest, blob]));
  return [
    json('oci-layout', OCI_LAYOUT),
    json('index.json', indexOf(index)),
    ...[...distinct.values()].map(({ digest, size }): TarEntry => ({
      kind: 'file',
      path: `blobs/${digest.replace(':', '/')}`,
      content: { file: store.path(digest), size },
    })),
  ];
}

/**
 * Write images of one name, one per architecture, as an OCI layout folder for a registry. Layers are compressed here:
 * over a network bytes count, on the lab's nodes the time to unpack does.
 */
export async function writeOciImage({
  store,
  images,
  ref,
  out,
}: {
  store: BlobStore;
  images: Descriptor[];
  ref: string;
  out: string;
}): Promise<Descriptor> {
  const target = new BlobStore(out);
  const published: Descriptor[] = [];
  for (const image of images) {
    const manifest = await readManifest(store, image);
    await copyBlob(store, target, manifest.config);
    const layers: Descriptor[] = [];
    for (const layer of manifest.layers) {
      const compressed = createReadStream(store.path(layer.digest)).pipe(createGzip());
      layers.push({ mediaType: MEDIA_TYPE.gzipLayer, ...(await target.write(compressed)) });
    }
    const written = await target.writeJson({ ...manifest, layers } satisfies Manifest);
    published.push({ ...image, ...written });
  }
  const [only, ...others] = published;
  const root =
    only && others.length === 0
      ? only
      : { mediaType: MEDIA_TYPE.index, ...(await target.writeJson(indexOf(published))) };
  const named = { ...root, annotations: { 'org.opencontainers.image.ref.name': ref.slice(ref.lastIndexOf(':') + 1) } };
  await writeWhole(join(out, 'oci-layout'), JSON.stringify(OCI_LAYOUT));
  await writeWhole(join(out, 'index.json'), JSON.stringify(indexOf([named])));
  return named;
}

const OCI_LAYOUT = { imageLayoutVersion: '1.0.0' };

function indexOf(manifests: Descriptor[]) {
  return { schemaVersion: 2, mediaType: MEDIA_TYPE.index, manifests };
}

async function readManifest(store: BlobStore, image: Blob): Promise<Manifest> {
  return JSON.parse(await readFile(store.path(image.digest), 'utf8'));
}

async function copyBlob(from: BlobStore, to: BlobStore, { digest }: Blob): Promise<void> {
  await mkdir(dirname(to.path(digest)), { recursive: true });
  await copyFile(from.path(digest), to.path(digest));
}
