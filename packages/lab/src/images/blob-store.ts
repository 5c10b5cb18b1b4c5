import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256OfFile } from '../binaries/sha256.ts';

/** How one piece of an image points at another: by what it contains. */
export interface Blob {
  digest: string;
  size: number;
}

/** The modification time of every finished blob, so that any later write to it shows. The access time is its last use. */
const UNTOUCHED = new Date(0);

/** The `blobs` folder of an OCI image layout: files named by the SHA-256 of their content. */
export class BlobStore {
  readonly dir: string;

  constructor(dir: string) {
    this.dir = dir;
  }

  path(digest: string): string {
    return join(this.dir, 'blobs', ...digest.split(':'));
  }

  /** Store a stream under its digest. A blob appears whole or not at all: it is written aside and then renamed. */
  async write(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Blob> {
    const unfinished = join(this.dir, 'blobs', `.${randomUUID()}`);
    await mkdir(join(this.dir, 'blobs', 'sha256'), { recursive: true });
    try {
      const hash = createHash('sha256');
      let size = 0;
      await using file = await open(unfinished, 'wx', 0o644);
      for await (const chunk of chunks) {
        hash.update(chunk);
        size += chunk.length;
        await file.writeFile(chunk);
      }
      const digest = `sha256:${hash.digest('hex')}`;
      await file.utimes(new Date(), UNTOUCHED);
      await rename(unfinished, this.path(digest));
      return { digest, size };
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  }

  async writeJson(value: unknown): Promise<Blob> {
    return this.write([Buffer.from(JSON.stringify(value))]);
  }

  /**
   * Whether the blob is here and intact. Its content is hashed only when the file was touched since it was stored, so
   * asking costs nothing; a damaged blob counts as absent and is made again.
   */
  async holds({ digest, size }: Blob): Promise<boolean> {
    const path = this.path(digest);
    const found = await stat(path).catch(() => undefined);
    if (found?.size !== size) return false;
    if (found.mtimeMs !== UNTOUCHED.getTime() && `sha256:${await sha256OfFile(path)}` !== digest) return false;
    await utimes(path, new Date(), UNTOUCHED);
    return true;
  }

  /** Forget blobs that nobody asked for in a while (the bundles of yesterday's code), and what a killed writer left. */
  async removeUnused(unusedMs: number): Promise<void> {
    const blobs = join(this.dir, 'blobs');
    for (const entry of await readdir(blobs, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      // It may be gone by now: another process can be tidying, or finishing a blob.
      const found = entry.isFile() ? await stat(path).catch(() => undefined) : undefined;
      if (found && Date.now() - found.atimeMs > unusedMs) await rm(path, { force: true });
    }
  }
}

/** Replace a file in one step, so that a reader or a crash never sees half of it. */
export async function writeWhole(path: string, content: string): Promise<void> {
  const unfinished = `${path}.${randomUUID()}`;
  await writeFile(unfinished, content);
  await rename(unfinished, path);
}
