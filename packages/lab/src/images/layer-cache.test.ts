import { mkdtempDisposable, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { LayerCache, recipeKey } from './layer-cache.ts';

/** A cache of its own, and a maker of layers that counts how often it was needed. */
async function openCache() {
  const dir = await mkdtempDisposable(join(tmpdir(), 'layer-test-'));
  vi.stubEnv('XDG_CACHE_HOME', dir.path);
  const make = vi.fn((cache: LayerCache) =>
    cache.write([{ kind: 'file', path: 'app/main', content: Buffer.from('code') }]),
  );
  return {
    make,
    async [Symbol.asyncDispose]() {
      vi.unstubAllEnvs();
      await dir.remove();
    },
  };
}

test('a recipe is known by what it says, not by the order it says it in', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (recipe) => {
      const reversed = Object.fromEntries(Object.entries(recipe).toReversed());
      expect(recipeKey(reversed)).toBe(recipeKey(recipe));
    }),
  );
});

test('recipes that differ anywhere have different keys', () => {
  const recipe = { suites: ['trixie'], packages: ['libc6', 'zlib1g'], arch: 'amd64' };
  const others = [{ suites: ['sid'] }, { packages: ['zlib1g', 'libc6'] }, { arch: 'arm64' }, { extra: null }];
  const keys = [recipe, ...others.map((other) => ({ ...recipe, ...other }))].map(recipeKey);
  expect(new Set(keys).size).toBe(keys.length);
});

test('a layer is made once, for images that ask together and for later runs', async () => {
  await using opened = await openCache();
  const [cache, later] = [new LayerCache(), new LayerCache()];
  const [first, second] = await Promise.all([1, 2].map(() => cache.layer({ a: 1 }, () => opened.make(cache))));
  expect(second).toEqual(first);
  expect(await later.layer({ a: 1 }, () => opened.make(later))).toEqual(first);
  expect(opened.make).toHaveBeenCalledTimes(1);
});

test('a layer whose blob is damaged or gone is made again', async () => {
  await using opened = await openCache();
  const ask = () => {
    const cache = new LayerCache();
    return cache.layer({ a: 1 }, () => opened.make(cache));
  };
  const { store } = new LayerCache();
  const layer = await ask();
  await writeFile(store.path(layer.digest), 'damaged');
  expect(await ask()).toEqual(layer);
  expect(await store.holds(layer)).toBe(true);
  await rm(store.path(layer.digest));
  expect(await ask()).toEqual(layer);
  expect(opened.make).toHaveBeenCalledTimes(3);
});

test('a refresh makes the layer again', async () => {
  await using opened = await openCache();
  for (const refresh of [false, true]) {
    const cache = new LayerCache({ refresh });
    await cache.layer({ a: 1 }, () => opened.make(cache));
  }
  expect(opened.make).toHaveBeenCalledTimes(2);
});
