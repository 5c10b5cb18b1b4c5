import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LabError } from '../errors.ts';
import type { DebianPackage } from './debian-packages.ts';
import type { Layer } from './layer-cache.ts';
import { collectLibraries, entryOf, skeleton, unpack } from './rootfs.ts';
import type { TarEntry } from './tar.ts';
import type { Workshop } from './workshop.ts';

/** A layer made of files from Debian packages and the libraries they need. */
export interface PackageLayerRecipe {
  /** Sets of suites, tried in this order until one delivers the wanted version. */
  from: readonly (readonly string[])[];
  packages: readonly string[];
  /** The package that gives the image its version, and how that version must begin: a suite may move on, a tag must not lie. */
  main?: { package: string; version: string };
  /** Place in the image -> place in the packages. All their shared libraries come along unasked. */
  files?: Record<string, string>;
  entries?: readonly TarEntry[];
}

export function packageLayer(workshop: Workshop, recipe: PackageLayerRecipe): Promise<Layer> {
  return workshop.cache.layer({ arch: workshop.arch, ...recipe }, async () => {
    const { packages, version } = await fetchMatching(workshop, recipe);
    await using root = await mkdtempDisposable(join(tmpdir(), 'lab-rootfs-'));
    await unpack(packages, root.path);
    const files = Object.entries(recipe.files ?? {}).map(([path, source]) => entryOf(join(root.path, source), path));
    const entries = [
      ...skeleton,
      ...(await collectLibraries(root.path)),
      ...(await Promise.all(files)),
      ...(recipe.entries ?? []),
    ];
    return { ...(await workshop.cache.write(entries)), version };
  });
}

async function fetchMatching(
  { arch, debian, step }: Workshop,
  { from, packages, main }: PackageLayerRecipe,
): Promise<{ packages: DebianPackage[]; version?: string }> {
  const obstacles: string[] = [];
  for (const suites of from) {
    step.note(`${packages[0]} from Debian ${suites.at(-1)}`);
    const fetched = await debian.fetch({ arch, suites, packages }).catch((error: unknown) => {
      if (!(error instanceof LabError) || error.code !== 'ImageUnavailable') throw error;
      obstacles.push(error.message);
      return undefined;
    });
    if (!fetched) continue;
    if (!main) return { packages: fetched };
    const version = upstreamVersion(fetched.find(({ name }) => name === main.package)?.version ?? '');
    if (version === main.version || version.startsWith(`${main.version}.`)) return { packages: fetched, version };
    obstacles.push(`Debian ${suites.at(-1)} has ${main.package} ${version}`);
  }
  throw new LabError(
    'ImageUnavailable',
    `cannot get ${main ? `${main.package} ${main.version}` : packages.join(', ')}: ${obstacles.join('; ')}`,
    'check the network; where Debian has moved on, name other suites in packages/lab/src/images/recipes.ts',
  );
}

/** `1:8.0.1+dfsg1-1~bpo12+1` is Valkey 8.0.1 to everyone but Debian. */
export function upstreamVersion(debianVersion: string): string {
  return debianVersion
    .replace(/^\d+:/, '')
    .replace(/[-+].*$/, '')
    .replace('~', '-');
}
