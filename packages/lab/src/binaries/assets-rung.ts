import { createReadStream, createWriteStream } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { LabError } from '../errors.ts';
import type { Component, Program } from './manifest.ts';
import { askVersion } from './program-version.ts';
import { type Climb, type Rung, type RungContext, allIn, nothing, storeKey } from './rung.ts';

const REMEDY = 'put a good file there, or unset KUBEBUILDER_ASSETS to download or build instead';

/**
 * Programs from the folder that KUBEBUILDER_ASSETS names. Plain ones run from where they are; a packed product is unpacked once,
 * into the store. A damaged file stops the ladder: who points at a folder wants to know, not to wait for a build.
 */
export const assetsRung: Rung = async (name, wanted, context) => {
  if (!context.assetsDir) return nothing('KUBEBUILDER_ASSETS is not set');
  const folder = resolve(context.assetsDir);
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) {
    throw new LabError(
      'NotFound',
      `KUBEBUILDER_ASSETS names ${folder}, which is not a folder`,
      'correct it or unset it',
    );
  }
  const component = context.manifest[name];
  const plain = await findPlain(folder, component, wanted);
  if (plain.reasons.length > 0) {
    await context.progress.step(`Skip ${name} of KUBEBUILDER_ASSETS`, async (step) =>
      step.note(plain.reasons.join('; ')),
    );
  }
  const rest = wanted.filter((program) => !plain.files.has(program));
  if (rest.length === 0) return plain;
  const packed = await unpackProduct(folder, component, rest, context);
  return { files: new Map([...plain.files, ...packed.files]), reasons: [...plain.reasons, ...packed.reasons] };
};

/** Any other version would mix with the rest of the lab in ways Kubernetes does not support (a kubelet newer than its API server). */
async function findPlain(folder: string, { version }: Component, wanted: readonly Program[]): Promise<Climb> {
  const climb: Climb = { files: new Map(), reasons: [] };
  const look = async (program: Program) => {
    const path = join(folder, program);
    if (!(await exists(path))) return;
    const found = await askVersion(program, path);
    if (found === version) climb.files.set(program, path);
    else climb.reasons.push(`${path} ${found ? `is ${found}` : 'does not tell its version'}, the lab needs ${version}`);
  };
  await Promise.all(wanted.map(look));
  return climb;
}

async function unpackProduct(
  folder: string,
  component: Component,
  wanted: readonly Program[],
  { arch, store, progress }: RungContext,
): Promise<Climb> {
  const { product, version } = component;
  const packed = join(folder, `${product}-${version}.zst`);
  if (!(await exists(packed))) return nothing(`${folder} has no ${wanted.join(', ')} and no ${product}-${version}.zst`);
  const sha256 = component.assets[arch];
  if (!sha256) return nothing(`no checksum is known for ${packed} on ${arch}`);

  const key = storeKey.assets(component, arch, sha256);
  const unpack = () =>
    progress.step(`Unpack ${product} ${version}`, (step) =>
      store.provide(key, {
        make: (path) => unpackZstd(packed, path),
        verify(actual) {
          if (actual === sha256) return;
          throw new LabError('ChecksumMismatch', `${packed} unpacks to sha256 ${actual}, expected ${sha256}`, REMEDY);
        },
        onWait: () => step.note('another run is unpacking it'),
      }),
    );
  return allIn((await store.find(key)) ?? (await unpack()), wanted);
}

async function unpackZstd(packed: string, path: string): Promise<void> {
  try {
    await pipeline(createReadStream(packed), createZstdDecompress(), createWriteStream(path));
  } catch (error) {
    if (!isZstdError(error)) throw error;
    throw new LabError('ChecksumMismatch', `${packed} is not a whole zstd file (${String(error)})`, REMEDY, error);
  }
}

function isZstdError(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return code.startsWith('ZSTD_') || code.startsWith('Z_');
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
