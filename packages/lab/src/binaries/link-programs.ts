import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Program } from './manifest.ts';

/**
 * A folder with a link per program. Its name is made from what the links lead to: two runs that found the same share it, two runs
 * that found something else have their own, and a run never changes links under another.
 */
export async function linkPrograms(cache: string, files: ReadonlyMap<Program, string>): Promise<string> {
  const links = [...files].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const id = createHash('sha256').update(JSON.stringify(links)).digest('hex').slice(0, 16);
  const dir = join(cache, `bin-${id}`);
  await mkdir(dir, { recursive: true });
  await Promise.all(links.map(([program, file]) => link(file, join(dir, program))));
  return dir;
}

async function link(target: string, path: string): Promise<void> {
  if ((await readlink(path).catch(() => undefined)) === target) return;
  const fresh = `${path}.${randomUUID()}`;
  await symlink(target, fresh);
  await rename(fresh, path).catch(async (error: unknown) => {
    await rm(fresh);
    throw error;
  });
}
