import { mkdtempDisposable, readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { run } from '../run.ts';
import { tar, type TarEntry } from './tar.ts';

const text = (path: string, content: string, rest: Partial<TarEntry> = {}): TarEntry => ({
  ...rest,
  kind: 'file',
  path,
  content: Buffer.from(content),
});

test('what goes in comes out of the tar of the system', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'tar-test-'));
  const deep = `${'folder-with-a-long-name/'.repeat(6)}file`;
  const fromDisk = join(dir.path, 'source');
  await writeFile(fromDisk, 'x'.repeat(3000));
  const archive = await buffer(
    tar([
      { kind: 'directory', path: 'tmp', mode: 0o1777 },
      text('etc/passwd', 'root\n', { mode: 0o600, owner: 999 }),
      { kind: 'symlink', path: 'lib', target: 'usr/lib' },
      { kind: 'file', path: 'big', content: { file: fromDisk, size: 3000 } },
      text(deep, 'deep'),
      text('empty', ''),
    ]),
  );

  const listing = await run('tar', ['--list', '--verbose', '--numeric-owner', '--file', '-'], { input: archive });
  expect(listing.stdout).toMatch(/^drwxrwxrwt 0\/0 .* tmp\/$/m);
  expect(listing.stdout).toMatch(/^-rw------- 999\/999 +5 .* etc\/passwd$/m);
  expect(listing.stderr).toBe('');

  await run('tar', ['--extract', '--no-same-owner', '--directory', dir.path, '--file', '-'], { input: archive });
  expect(await readFile(join(dir.path, 'big'), 'utf8')).toBe('x'.repeat(3000));
  expect(await readFile(join(dir.path, deep), 'utf8')).toBe('deep');
  expect(await readlink(join(dir.path, 'lib'))).toBe('usr/lib');
  expect((await stat(join(dir.path, 'empty'))).size).toBe(0);
});

test('the bytes depend on the entries, not on the order they are given in', async () => {
  const entries = fc.uniqueArray(
    fc.record({ path: fc.stringMatching(/^[a-z]{1,8}(\/[a-z]{1,8}){0,3}$/), content: fc.string() }),
    { selector: ({ path }) => path },
  );
  await fc.assert(
    fc.asyncProperty(
      entries.chain((some) => fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length }))),
      async ([given, shuffled]) => {
        const archive = (some: typeof given) => buffer(tar(some.map(({ path, content }) => text(path, content))));
        expect((await archive(given)).equals(await archive(shuffled))).toBe(true);
      },
    ),
  );
});

test('a file that changes while it is archived is an error, not a broken archive', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'tar-test-'));
  const file = join(dir.path, 'growing');
  await writeFile(file, 'longer than before');
  await expect(buffer(tar([{ kind: 'file', path: 'growing', content: { file, size: 3 } }]))).rejects.toThrow(
    /changed while/,
  );
});

test('a name that does not fit a header is refused', async () => {
  await expect(buffer(tar([text('a'.repeat(101), '')]))).rejects.toThrow(/too long/);
  await expect(buffer(tar([{ kind: 'directory', path: 'a'.repeat(101) }]))).rejects.toThrow(/too long/);
});
