import { randomUUID } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { chmod, mkdir, open, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { LabError } from '../errors.ts';
import { withLock } from '../process-lock.ts';
import { sha256OfFile } from './sha256.ts';

/** How a file comes into the store. */
export interface Recipe {
  /** Write the executable to `path`; `folder` is for anything else and is removed afterwards. */
  make(path: string, folder: string): Promise<void>;
  /** Throws when the content is not the one that was asked for; then nothing is kept. */
  verify?: (sha256: string) => void;
  /** Called when another process is making the same file, so that waiting can be explained. */
  onWait?: () => void;
}

export interface Store {
  /** A whole file of this key, or undefined. What is damaged is removed on the way, so that it gets made again. */
  find(key: string): Promise<string | undefined>;
  /** Find it, or make it. Processes that ask for the same key at once make it once. */
  provide(key: string, recipe: Recipe): Promise<string>;
}

const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Executables that are kept between runs, at `<root>/<key>/<sha256 of the content>`: the name says what the content must be, so a
 * file can be verified with nothing but itself. Files appear by rename after fsync: a crash leaves a whole file or none.
 */
export function openStore(root: string): Store {
  const find = async (key: string) => (await firstWhole(join(root, key), isStamped)) ?? heal(key);

  /** The slow way: hash what has no valid stamp, drop what is damaged and what a crash left. */
  const heal = async (key: string) => {
    const folder = join(root, key);
    if (!(await list(folder)).some((name) => SHA256.test(name))) return undefined;
    return withLock(folder, () => healLocked(folder));
  };

  const provide = async (key: string, recipe: Recipe) => {
    const folder = join(root, key);
    await mkdir(folder, { recursive: true });
    return withLock(folder, async () => (await healLocked(folder)) ?? add(folder, recipe), { onWait: recipe.onWait });
  };

  return { find, provide };
}

async function healLocked(folder: string): Promise<string | undefined> {
  const names = await list(folder);
  const leftovers = names.filter((name) => name.startsWith('tmp-'));
  await Promise.all(leftovers.map((name) => rm(join(folder, name), { recursive: true, force: true })));
  return firstWhole(folder, async (file) => {
    if (await isStamped(file)) return true;
    if ((await sha256OfFile(file)) === basename(file)) {
      await writeStamp(file);
      return true;
    }
    await rm(file, { force: true });
    await rm(stampOf(file), { force: true });
    return false;
  });
}

async function add(folder: string, recipe: Recipe): Promise<string> {
  const workspace = join(folder, `tmp-${randomUUID()}`);
  const made = join(workspace, 'executable');
  try {
    await mkdir(workspace);
    await recipe.make(made, workspace);
    await chmod(made, 0o755);
    await sync(made);
    const sha256 = await sha256OfFile(made);
    recipe.verify?.(sha256);
    const file = join(folder, sha256);
    await rename(made, file);
    await sync(folder);
    await writeStamp(file);
    return file;
  } catch (error) {
    throw explainFullDisk(error, folder);
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

async function firstWhole(folder: string, isWhole: (file: string) => Promise<boolean>): Promise<string | undefined> {
  for (const name of await list(folder)) {
    const file = join(folder, name);
    if (SHA256.test(name) && (await isWhole(file))) return file;
  }
  return undefined;
}

async function list(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Hashing 130 MB takes up to a second on a busy machine, too much for every start. A stamp remembers which file was hashed: its inode, size and ctime. The kernel sets
 * ctime at every write, truncation, chmod and rename, and no program can set it back, so whatever touches the file makes the stamp
 * differ and the file is hashed again. Not seen: a disk that changes bytes underneath the file system.
 */
const stampOf = (file: string) => `${file}.stamp`;

const fingerprint = ({ dev, ino, size, ctimeNs }: BigIntStats) =>
  `dev=${dev} ino=${ino} size=${size} ctime=${ctimeNs}\n`;

async function writeStamp(file: string): Promise<void> {
  await writeFile(stampOf(file), fingerprint(await stat(file, { bigint: true })));
}

async function isStamped(file: string): Promise<boolean> {
  try {
    const written = await readFile(stampOf(file), 'utf8');
    const [stamp, now] = await Promise.all([stat(stampOf(file), { bigint: true }), stat(file, { bigint: true })]);
    // File times advance in ticks. A stamp from the file's own tick could miss a change later in that tick; a younger one cannot.
    return written === fingerprint(now) && stamp.mtimeNs > now.ctimeNs;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

async function sync(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}

function explainFullDisk(error: unknown, folder: string): unknown {
  const full = (error as NodeJS.ErrnoException).code === 'ENOSPC' || /no space left on device/.test(String(error));
  if (!full) return error;
  return new LabError(
    'DiskFull',
    `no space left for ${folder}`,
    'free some space: 1 GB to unpack or download, 6 GB to build with Go',
    error,
  );
}
