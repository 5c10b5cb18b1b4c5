import { createReadStream } from 'node:fs';

interface EntryBase {
  /** Relative to the root, without a leading or trailing slash. */
  path: string;
  mode?: number;
  /** User and group id. */
  owner?: number;
}

export interface FileEntry extends EntryBase {
  kind: 'file';
  content: Uint8Array | { file: string; size: number };
}

export type TarEntry =
  | FileEntry
  | (EntryBase & { kind: 'directory' })
  | (EntryBase & { kind: 'symlink'; target: string });

const BLOCK = 512;
const TYPE_FLAG = { file: '0', symlink: '2', directory: '5' };
const DEFAULT_MODE = { file: 0o644, symlink: 0o777, directory: 0o755 };

/**
 * A tar archive whose bytes depend on its entries alone: sorted by path, no times, no names of users. The same files
 * give the same digest on every machine, which is what lets an unchanged image cost nothing. Written by hand because
 * that guarantee is all we need of tar, and a header is a dozen fields.
 */
export async function* tar(entries: Iterable<TarEntry>): AsyncGenerator<Uint8Array> {
  // A directory's path is a prefix of its children's, so this order also puts parents first.
  const sorted = [...entries].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  for (const entry of sorted) {
    const size = sizeOf(entry);
    yield header(entry, size);
    if (entry.kind !== 'file') continue;
    yield* entry.content instanceof Uint8Array ? [entry.content] : readExactly(entry.content);
    yield Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
  }
  yield Buffer.alloc(2 * BLOCK);
}

function sizeOf(entry: TarEntry): number {
  if (entry.kind !== 'file') return 0;
  return entry.content instanceof Uint8Array ? entry.content.length : entry.content.size;
}

async function* readExactly({ file, size }: { file: string; size: number }): AsyncGenerator<Uint8Array> {
  let seen = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) {
    seen += chunk.length;
    yield chunk;
  }
  if (seen !== size) throw new Error(`${file} changed while it was read: ${seen} bytes instead of ${size}`);
}

function header(entry: TarEntry, size: number): Uint8Array {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, offset: number, length: number) =>
    block.write(value.toString(8).padStart(length - 1, '0'), offset, 'ascii');
  const { prefix, name } = splitPath(entry.kind === 'directory' ? `${entry.path}/` : entry.path);

  block.write(name, 0);
  octal(entry.mode ?? DEFAULT_MODE[entry.kind], 100, 8);
  octal(entry.owner ?? 0, 108, 8);
  octal(entry.owner ?? 0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  block.write(TYPE_FLAG[entry.kind], 156);
  if (entry.kind === 'symlink') block.write(fitting(entry.target, 100), 157);
  block.write('ustar\u000000', 257);
  block.write(prefix, 345);

  // The checksum counts its own field as spaces.
  block.fill(' ', 148, 156);
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  block[154] = 0;
  return block;
}

/** ustar keeps a path in 100 bytes plus a prefix of 155, parted at a slash. */
function splitPath(path: string): { prefix: string; name: string } {
  if (Buffer.byteLength(path) <= 100) return { prefix: '', name: path };
  const cut = path.slice(0, -1).indexOf('/', path.length - 101);
  return { prefix: fitting(path.slice(0, Math.max(cut, 0)), 155), name: fitting(path.slice(cut + 1), 100) };
}

function fitting(text: string, limit: number): string {
  if (Buffer.byteLength(text) > limit) throw new Error(`too long for a tar header: ${text}`);
  return text;
}
