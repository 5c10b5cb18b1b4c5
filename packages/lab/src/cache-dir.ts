import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where things that can be made again are kept between runs: binaries, images, packages. */
export function cacheDir(...parts: string[]): string {
  const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(base, 'valkey-operator', ...parts);
}
