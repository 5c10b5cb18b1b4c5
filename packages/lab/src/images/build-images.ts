import { allDone } from '../all-done.ts';
import { LabError } from '../errors.ts';
import { withLock } from '../process-lock.ts';
import type { Step } from '../progress.ts';
import type { App } from './app-image.ts';
import type { BlobStore } from './blob-store.ts';
import { DebianPackages } from './debian-packages.ts';
import { LayerCache } from './layer-cache.ts';
import { writeManifest, type Arch, type Descriptor } from './oci-image.ts';
import { labImages, type ImageRecipe } from './recipes.ts';
import type { Workshop } from './workshop.ts';

export interface BuiltImage {
  ref: string;
  /** Digest of the manifest: equal digests are equal images, down to the last byte. */
  digest: string;
  manifest: Descriptor;
  /** Where its blobs are. */
  store: BlobStore;
}

export interface BuildImagesOptions {
  step: Step;
  binariesDir: string;
  /** Names of recipes (`valkey-9.1`, `pause`, `operator`, ...); all of them unless given. */
  only?: readonly string[];
  apps?: readonly App[];
  arch?: Arch;
  /** Ask Debian for newer packages instead of taking what an earlier build took. */
  refresh?: boolean;
}

const UNUSED_MS = 7 * 24 * 3600 * 1000;

/**
 * Make the images of a lab, or find that they are made already: then nothing but our own code is looked at, and no
 * network is needed. One entry per name, so an image with two names appears twice with one digest.
 */
export async function buildImages(options: BuildImagesOptions): Promise<BuiltImage[]> {
  const recipes = choose(labImages(options.apps), options.only);
  const { step, binariesDir, arch = hostArch(), refresh } = options;
  const cache = new LayerCache({ refresh });
  const build = async () => {
    await using debian = new DebianPackages({ refresh });
    const images = await buildAll({ arch, binariesDir, step, debian, cache }, recipes);
    await cache.store.removeUnused(UNUSED_MS);
    return images;
  };
  // A second lab that starts meanwhile would do the same work; it waits and then finds it done.
  return withLock(cache.store.dir, build, { onWait: () => step.note('waiting for another build of images') });
}

async function buildAll(workshop: Workshop, recipes: ImageRecipe[]): Promise<BuiltImage[]> {
  let done = 0;
  const built = await allDone(
    recipes.map(async (recipe) => {
      const images = await buildImage(workshop, recipe);
      workshop.step.progress(++done, recipes.length, 'images');
      return images;
    }),
  ).catch((error: unknown) => {
    throw explain(error, workshop.cache.store.dir);
  });
  return built.flat();
}

async function buildImage(workshop: Workshop, recipe: ImageRecipe): Promise<BuiltImage[]> {
  const { arch, cache } = workshop;
  const layers = await allDone(recipe.layers(workshop));
  const version = layers.find((layer) => layer.version)?.version ?? '';
  const labels = version ? { 'org.opencontainers.image.version': version } : undefined;
  const config = { ...recipe.config, labels: { ...labels, ...recipe.config.labels } };
  const manifest = await writeManifest(cache.store, { arch, config, layers });
  return recipe.refs(version).map((ref) => ({ ref, digest: manifest.digest, manifest, store: cache.store }));
}

function choose(recipes: ImageRecipe[], only?: readonly string[]): ImageRecipe[] {
  if (!only) return recipes;
  const names = recipes.map(({ name }) => name);
  const unknown = only.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new LabError('BadArgument', `there is no image ${unknown.join(', ')}`, `choose from ${names.join(', ')}`);
  }
  return recipes.filter(({ name }) => only.includes(name));
}

function hostArch(): Arch {
  if (process.arch === 'x64') return 'amd64';
  if (process.arch === 'arm64') return 'arm64';
  throw new LabError(
    'ImageUnavailable',
    `there are no images for ${process.arch}`,
    'use a machine with an x86-64 or arm64 processor',
  );
}

function explain(error: unknown, dir: string): unknown {
  const full = error instanceof Error && 'code' in error && error.code === 'ENOSPC';
  return full
    ? new LabError('DiskFull', `no room for images in ${dir}`, 'free some space and run this again', error)
    : error;
}
