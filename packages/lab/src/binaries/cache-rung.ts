import { buildRecipe } from './build-rung.ts';
import type { Program } from './manifest.ts';
import { type Climb, type Rung, storeKey } from './rung.ts';

/**
 * What earlier runs put into the store: unpacked, downloaded or built, in this order. A build counts only when it was made from
 * the Go module as it is now.
 */
export const cacheRung: Rung = async (name, wanted, { manifest, arch, store }) => {
  const component = manifest[name];
  const assets = component.assets[arch];
  const climb: Climb = { files: new Map(), reasons: [] };
  const take = (program: Program, file: string | undefined) => {
    if (file && !climb.files.has(program)) climb.files.set(program, file);
  };

  const unpacked = assets && (await store.find(storeKey.assets(component, arch, assets)));
  for (const program of wanted) take(program, unpacked);
  if (climb.files.size === wanted.length) return climb;

  for (const program of wanted) take(program, await store.find(storeKey.release(program, component, arch)));
  if (climb.files.size === wanted.length) return climb;

  const built = await store.find(storeKey.build(component, arch, await buildRecipe(component)));
  for (const program of wanted) take(program, built);
  if (climb.files.size < wanted.length) climb.reasons.push('not in the cache');
  return climb;
};
