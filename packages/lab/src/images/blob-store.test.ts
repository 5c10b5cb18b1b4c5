import { createHash } from 'node:crypto';
import { appendFile, mkdtempDisposable, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BlobStore } from './blob-store.ts';

async function openStore() {
  const dir = await mkdtempDisposable(join(tmpdir(), 'blob-test-'));
  return { store: new BlobStore(dir.path), [Symbol.asyncDispose]: () => dir.remove() };
}

const A_DAY = 24 * 3600 * 1000;

test('a blob is found under the digest of its content', async () => {
  await using opened = await openStore();
  const blob = await opened.store.write([Buffer.from('hel'), Buffer.from('lo')]);
  expect(blob).toEqual({ digest: `sha256:${createHash('sha256').update('hello').digest('hex')}`, size: 5 });
  expect(await readFile(opened.store.path(blob.digest), 'utf8')).toBe('hello');
  expect(await opened.store.holds(blob)).toBe(true);
});

test('a blob that was cut off, changed or removed counts as absent', async () => {
  await using opened = await openStore();
  const { store } = opened;
  const blob = await store.writeJson({ some: 'content' });
  const path = store.path(blob.digest);
  const content = await readFile(path, 'utf8');

  await writeFile(path, content.toUpperCase());
  expect(await store.holds(blob)).toBe(false);
  await writeFile(path, content.slice(1));
  expect(await store.holds(blob)).toBe(false);
  await writeFile(path, content);
  expect(await store.holds(blob)).toBe(true);
  expect(await store.holds({ digest: `sha256:${'0'.repeat(64)}`, size: 1 })).toBe(false);
});

test('a stream that fails leaves nothing behind', async () => {
  await using opened = await openStore();
  const broken = async function* () {
    yield Buffer.from('half');
    throw new Error('the source went away');
  };
  await expect(opened.store.write(broken())).rejects.toThrow('the source went away');
  expect(await readdir(join(opened.store.dir, 'blobs'))).toEqual(['sha256']);
  expect(await readdir(join(opened.store.dir, 'blobs', 'sha256'))).toEqual([]);
});

test('only what nobody asked for in a while is removed', async () => {
  await using opened = await openStore();
  const { store } = opened;
  const [used, unused] = [await store.writeJson('used'), await store.writeJson('unused')];
  const leftover = join(store.dir, 'blobs', '.from-a-killed-writer');
  await appendFile(leftover, '');
  const yesterday = new Date(Date.now() - A_DAY);
  for (const path of [store.path(used.digest), store.path(unused.digest), leftover])
    await utimes(path, yesterday, new Date(0));

  expect(await store.holds(used)).toBe(true);
  await store.removeUnused(A_DAY / 2);
  expect(await readdir(join(store.dir, 'blobs'), { recursive: true })).toEqual([
    'sha256',
    `sha256/${used.digest.slice('sha256:'.length)}`,
  ]);
});
