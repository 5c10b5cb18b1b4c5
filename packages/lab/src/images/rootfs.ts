import { lstat, readdir, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { run } from '../run.ts';
import type { DebianPackage } from './debian-packages.ts';
import type { TarEntry } from './tar.ts';

/** Whom our own processes run as. */
export const NONROOT = 65_532;
/** The same id as in the official Valkey image, so that volumes can move between the two. */
export const VALKEY = 999;

/** What a program without a shell still expects to find: users, names, a place for temporary files. */
export const skeleton: TarEntry[] = [
  ...['bin', 'lib', 'lib64'].map((name): TarEntry => ({ kind: 'symlink', path: name, target: `usr/${name}` })),
  { kind: 'directory', path: 'usr/bin' },
  { kind: 'directory', path: 'usr/lib64' },
  { kind: 'directory', path: 'tmp', mode: 0o1777 },
  textFile('etc/passwd', [
    'root:x:0:0:root:/root:/sbin/nologin',
    `valkey:x:${VALKEY}:${VALKEY}:valkey:/data:/sbin/nologin`,
    `nonroot:x:${NONROOT}:${NONROOT}:nonroot:/tmp:/sbin/nologin`,
  ]),
  textFile('etc/group', ['root:x:0:', `valkey:x:${VALKEY}:`, `nonroot:x:${NONROOT}:`]),
  textFile('etc/nsswitch.conf', ['hosts: files dns']),
];

/** Every directory that a path needs, once, unless it is listed with attributes of its own. */
export function withParents(entries: readonly TarEntry[]): TarEntry[] {
  const all = new Map<string, TarEntry>();
  for (const { path } of entries) {
    for (let dir = dirname(path); dir !== '.'; dir = dirname(dir)) all.set(dir, { kind: 'directory', path: dir });
  }
  for (const entry of entries) all.set(entry.path, entry);
  return [...all.values()];
}

/** Lay the files of packages into a folder, without installing anything. */
export async function unpack(packages: readonly DebianPackage[], root: string): Promise<void> {
  for (const { path } of packages) await run('dpkg-deb', ['--extract', path, root]);
}

/**
 * The shared libraries and the loader under an unpacked root, without what a container never reads (locales, character
 * set modules, documentation). Older suites still use /lib; the image has one /usr/lib, to which /lib links.
 */
export async function collectLibraries(root: string): Promise<TarEntry[]> {
  const entries: TarEntry[] = [];
  for (const found of await readdir(root, { recursive: true })) {
    const place = libraryPath(found);
    if (place) entries.push(await entryOf(join(root, found), place));
  }
  return entries;
}

/** Where a file of a package goes in the image, or nothing when it is no library. */
export function libraryPath(path: string): string | undefined {
  const library = /^(?:usr\/)?(lib(?:64)?\/(?:[^/]+-linux-gnu\/)?[^/]+\.so\.[\d.]+)$/.exec(path);
  return library ? `usr/${library[1]}` : undefined;
}

/** The tar entry for a file or link on disk. */
export async function entryOf(source: string, path: string): Promise<TarEntry> {
  const found = await lstat(source);
  if (found.isSymbolicLink()) return { kind: 'symlink', path, target: await readlink(source) };
  return { kind: 'file', path, mode: found.mode & 0o111 ? 0o755 : 0o644, content: { file: source, size: found.size } };
}

function textFile(path: string, lines: string[]): TarEntry {
  return { kind: 'file', path, content: Buffer.from(lines.map((line) => `${line}\n`).join('')) };
}
