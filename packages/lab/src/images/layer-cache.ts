import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDir } from '../cache-dir.ts';
import { BlobStore, writeWhole, type Blob } from './blob-store.ts';
import { withParents } from './rootfs.ts';
import { tar, type TarEntry } from './tar.ts';

export interface Layer extends Blob {
  /** Version of the software inside, when its package decides it. */
  version?: string;
}

/** Raised when the same recipe must give other bytes than before (the code below it changed). */
const RECIPE_VERSION = 1;

/** The name of what a recipe makes: equal recipes, equal keys, whatever order their fields were written in. */
export function recipeKey(recipe: unknown): string {
  const sorted = JSON.stringify([RECIPE_VERSION, recipe], (_name, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash('sha256').update(sorted).digest('hex');
}

/** Layers by recipe: one that was made before, and is still intact, is not made again. */
export class LayerCache {
  readonly store = new BlobStore(cacheDir('images'));
  readonly #records = cacheDir('images', 'layers');
  readonly #refresh: boolean;
  readonly #inProgress = new Map<string, Promise<Layer>>();

  constructor({ refresh = false }: { refresh?: boolean } = {}) {
    this.#refresh = refresh;
  }

  /** The layer of a recipe. Images that share it may ask at the same time; it is made once. */
  layer(recipe: unknown, make: () => Promise<Layer>): Promise<Layer> {
    const key = recipeKey(recipe);
    const layer = this.#inProgress.get(key) ?? this.#recallOrMake(key, make);
    this.#inProgress.set(key, layer);
    return layer;
  }

  async write(entries: readonly TarEntry[]): Promise<Blob> {
    return this.store.write(tar(withParents(entries)));
  }

  async #recallOrMake(key: string, make: () => Promise<Layer>): Promise<Layer> {
    const record = join(this.#records, `${key}.json`);
    const known = this.#refresh ? undefined : await readRecord(record);
    if (known && (await this.store.holds(known))) return known;
    const layer = await make();
    await mkdir(this.#records, { recursive: true });
    await writeWhole(record, JSON.stringify(layer));
    return layer;
  }
}

async function readRecord(path: string): Promise<Layer | undefined> {
  return readFile(path, 'utf8')
    .then(JSON.parse)
    .catch(() => undefined);
}
