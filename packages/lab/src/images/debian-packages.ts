import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256OfFile } from '../binaries/sha256.ts';
import { cacheDir } from '../cache-dir.ts';
import { writeWhole } from './blob-store.ts';
import type { Arch } from './oci-image.ts';
import { PrivateApt, type ResolvedPackage } from './private-apt.ts';

export interface PackageQuery {
  arch: Arch;
  /** Looked at together, as lines of one sources list. */
  suites: readonly string[];
  packages: readonly string[];
}

export interface DebianPackage extends ResolvedPackage {
  path: string;
}

/**
 * Debian packages from any suite, without touching the packages of this machine. What a query resolved to is written
 * down beside the packages: from then on it needs no network and always gives the same versions, until `refresh` (or a
 * damaged file) makes it ask the archive again.
 */
export class DebianPackages implements AsyncDisposable {
  readonly #dir = cacheDir('debs');
  readonly #refresh: boolean;
  readonly #archives = new Map<string, Promise<PrivateApt>>();

  constructor({ refresh = false }: { refresh?: boolean } = {}) {
    this.#refresh = refresh;
  }

  async fetch(query: PackageQuery): Promise<DebianPackage[]> {
    const lock = join(this.#dir, `${createHash('sha256').update(JSON.stringify(query)).digest('hex')}.json`);
    const locked = this.#refresh ? [] : this.#locate(await readLock(lock));
    if (locked.length > 0 && (await findDamaged(locked)).length === 0) return locked;

    await mkdir(this.#dir, { recursive: true });
    const apt = await this.#archive(query);
    const resolved = await apt.resolve(query.packages);
    const packages = this.#locate(resolved);
    await apt.download(await findDamaged(packages), this.#dir);
    await writeWhole(lock, JSON.stringify(resolved, null, 2));
    return packages;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await Promise.allSettled(this.#archives.values());
    for (const apt of opened) if (apt.status === 'fulfilled') await apt.value[Symbol.asyncDispose]();
  }

  #locate(packages: ResolvedPackage[]): DebianPackage[] {
    return packages.map((found) => ({ ...found, path: join(this.#dir, found.fileName) }));
  }

  /** The lists of a suite are fetched once, however many images are made from it. */
  #archive({ arch, suites }: PackageQuery): Promise<PrivateApt> {
    const key = [arch, ...suites].join();
    const archive = this.#archives.get(key) ?? PrivateApt.open({ arch, suites, parent: this.#dir });
    this.#archives.set(key, archive);
    return archive;
  }
}

async function readLock(path: string): Promise<ResolvedPackage[]> {
  return readFile(path, 'utf8')
    .then(JSON.parse)
    .catch(() => []);
}

async function findDamaged(packages: DebianPackage[]): Promise<DebianPackage[]> {
  const found = await Promise.all(packages.map(({ path }) => sha256OfFile(path).catch(() => 'missing')));
  return packages.filter(({ sha256 }, i) => found[i] !== sha256);
}
