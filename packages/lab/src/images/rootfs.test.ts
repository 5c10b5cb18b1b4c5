import { expect, test } from 'vitest';
import { libraryPath, skeleton, withParents } from './rootfs.ts';

test.for([
  ['lib/x86_64-linux-gnu/libc.so.6', 'usr/lib/x86_64-linux-gnu/libc.so.6'],
  ['usr/lib/aarch64-linux-gnu/libstdc++.so.6.0.33', 'usr/lib/aarch64-linux-gnu/libstdc++.so.6.0.33'],
  ['lib64/ld-linux-x86-64.so.2', 'usr/lib64/ld-linux-x86-64.so.2'],
  ['lib/ld-linux-aarch64.so.1', 'usr/lib/ld-linux-aarch64.so.1'],
  ['usr/lib/x86_64-linux-gnu/gconv/UTF-16.so', undefined],
  ['usr/lib/x86_64-linux-gnu/engines-3/afalg.so', undefined],
  ['usr/share/doc/libc6/copyright', undefined],
])('%s of a package goes to %s', ([path, place]) => {
  expect(libraryPath(path!)).toBe(place);
});

test('every parent directory is there once, and keeps attributes given to it', () => {
  const entries = withParents([
    { kind: 'directory', path: 'data', owner: 999 },
    { kind: 'file', path: 'data/a/b', content: Buffer.from('') },
    { kind: 'file', path: 'data/a/c', content: Buffer.from('') },
  ]);
  expect(entries.map(({ path }) => path).toSorted()).toEqual(['data', 'data/a', 'data/a/b', 'data/a/c']);
  expect(entries.find(({ path }) => path === 'data')).toMatchObject({ owner: 999 });
});

test('a program without a shell finds users and a writable /tmp', () => {
  const passwd = skeleton.find(({ path }) => path === 'etc/passwd');
  expect(passwd?.kind === 'file' && Buffer.from(passwd.content as Uint8Array).toString()).toMatch(
    /^valkey:x:999:999:.*\nnonroot:x:65532:65532:/m,
  );
  expect(skeleton).toContainEqual({ kind: 'directory', path: 'tmp', mode: 0o1777 });
});
