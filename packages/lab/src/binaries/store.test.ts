import { mkdtemp, readFile, readdir, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LabError } from '../errors.ts';
import { sha256 } from './fake-world.ts';
import { type Recipe, openStore } from './store.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'valkey-operator-store-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

function recipeOf(content: string): Recipe & { made: number } {
  const recipe = {
    made: 0,
    async make(path: string) {
      recipe.made++;
      await writeFile(path, content);
    },
  };
  return recipe;
}

test('a file is kept under its own checksum, executable, and found again by a later run', async () => {
  const recipe = recipeOf('etcd');
  const file = await openStore(root).provide('etcd-v1', recipe);
  expect(basename(file)).toBe(sha256('etcd'));
  expect((await stat(file)).mode & 0o777).toBe(0o755);
  expect(await openStore(root).find('etcd-v1')).toBe(file);
  expect(await openStore(root).provide('etcd-v1', recipe)).toBe(file);
  expect(recipe.made).toBe(1);
});

test('nothing is found where nothing was made', async () => {
  expect(await openStore(root).find('etcd-v1')).toBeUndefined();
});

test.each([
  ['truncated', (file: string) => truncate(file, 2)],
  ['overwritten with something of the same length', (file: string) => writeFile(file, 'dcte')],
  ['emptied', (file: string) => writeFile(file, '')],
])('a file that was %s is removed and made again', async (_damage, damage) => {
  const store = openStore(root);
  const file = await store.provide('etcd-v1', recipeOf('etcd'));
  await damage(file);
  expect(await store.find('etcd-v1')).toBeUndefined();
  expect(await readdir(dirname(file))).toEqual([]);
  const again = recipeOf('etcd');
  expect(await readFile(await store.provide('etcd-v1', again), 'utf8')).toBe('etcd');
  expect(again.made).toBe(1);
});

test('damage is seen even when the modification time was set back', async () => {
  const store = openStore(root);
  const file = await store.provide('etcd-v1', recipeOf('etcd'));
  const { atime, mtime } = await stat(file);
  await writeFile(file, 'dcte');
  await utimes(file, atime, mtime);
  expect(await store.find('etcd-v1')).toBeUndefined();
});

test('a whole file without its stamp is hashed once and kept', async () => {
  const store = openStore(root);
  const file = await store.provide('etcd-v1', recipeOf('etcd'));
  await rm(`${file}.stamp`);
  expect(await store.find('etcd-v1')).toBe(file);
  expect(await readdir(dirname(file))).toContain(`${basename(file)}.stamp`);
});

test('a stamp that a crash left half written does not vouch for the file', async () => {
  const store = openStore(root);
  const file = await store.provide('etcd-v1', recipeOf('etcd'));
  await writeFile(`${file}.stamp`, 'dev=1 ino');
  await writeFile(file, 'dcte');
  expect(await store.find('etcd-v1')).toBeUndefined();
});

test('what a crashed run left half made is never found and is swept away', async () => {
  const store = openStore(root);
  const file = await store.provide('etcd-v1', recipeOf('etcd'));
  await rm(file);
  await writeFile(join(dirname(file), 'tmp-of-a-crash'), 'half');
  expect(await store.find('etcd-v1')).toBeUndefined();
  await store.provide('etcd-v1', recipeOf('etcd'));
  expect((await readdir(dirname(file))).toSorted()).toEqual([sha256('etcd'), `${sha256('etcd')}.stamp`]);
});

test('runs that ask for the same file at once make it once', async () => {
  const recipe = recipeOf('etcd');
  const files = await Promise.all(Array.from({ length: 6 }, () => openStore(root).provide('etcd-v1', recipe)));
  expect(new Set(files).size).toBe(1);
  expect(recipe.made).toBe(1);
});

test('runs that find the same damaged file at once heal it together', async () => {
  const file = await openStore(root).provide('etcd-v1', recipeOf('etcd'));
  await truncate(file, 1);
  const recipe = recipeOf('etcd');
  const heal = async () => {
    const store = openStore(root);
    return (await store.find('etcd-v1')) ?? (await store.provide('etcd-v1', recipe));
  };
  const files = await Promise.all(Array.from({ length: 6 }, heal));
  expect(new Set(files)).toEqual(new Set([file]));
  expect(await readFile(file, 'utf8')).toBe('etcd');
  expect(recipe.made).toBe(1);
});

test('a file that fails its verification leaves nothing behind', async () => {
  const refuse = () => {
    throw new LabError('ChecksumMismatch', 'not what was asked for', 'none');
  };
  await expect(openStore(root).provide('etcd-v1', { ...recipeOf('bad'), verify: refuse })).rejects.toThrow(
    'not what was asked',
  );
  expect(await readdir(join(root, 'etcd-v1'))).toEqual([]);
});

test('a full disk is named as such', async () => {
  const make = () => Promise.reject(Object.assign(new Error('write'), { code: 'ENOSPC' }));
  await expect(openStore(root).provide('etcd-v1', { make })).rejects.toMatchObject({ code: 'DiskFull' });
  expect(await readdir(join(root, 'etcd-v1'))).toEqual([]);
});
