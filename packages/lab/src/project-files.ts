import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's own folder, whichever package asks. */
export const PROJECT_ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** All YAML documents of a folder, one after another. */
export function readManifests(folder: string): string {
  const dir = join(PROJECT_ROOT, folder);
  const files = readdirSync(dir)
    .filter((file) => file.endsWith('.yaml'))
    .toSorted();
  return files.map((file) => readFileSync(join(dir, file), 'utf8')).join('\n---\n');
}
