import { createHash } from 'node:crypto';
import { mkdir, mkdtempDisposable, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { DebianPackages, type PackageQuery } from './debian-packages.ts';
import { mirrorOf } from './debian-mirror.ts';
import { upstreamVersion } from './package-layer.ts';
import { parsePrintedUris } from './private-apt.ts';

const sha256 = (content: string) => createHash('sha256').update(content).digest('hex');
const query: PackageQuery = { arch: 'amd64', suites: ['trixie'], packages: ['liblzf1'] };

/** A cache of its own on a machine without apt. */
async function cacheWithoutApt() {
  const dir = await mkdtempDisposable(join(tmpdir(), 'debs-test-'));
  vi.stubEnv('XDG_CACHE_HOME', dir.path);
  vi.stubEnv('PATH', join(dir.path, 'nothing-here'));
  vi.stubEnv('LAB_DEBIAN_MIRROR', '');
  const debs = join(dir.path, 'valkey-operator', 'debs');
  await mkdir(debs, { recursive: true });
  return {
    debs,
    async [Symbol.asyncDispose]() {
      vi.unstubAllEnvs();
      await dir.remove();
    },
  };
}

async function lockLiblzf(debs: string) {
  const locked = {
    name: 'liblzf1',
    version: '3.6-4',
    sha256: sha256('a package'),
    fileName: 'liblzf1_3.6-4_amd64.deb',
  };
  await writeFile(join(debs, `${sha256(JSON.stringify(query))}.json`), JSON.stringify([locked]));
  return { ...locked, path: join(debs, locked.fileName) };
}

test('packages that were fetched before need neither apt nor network', async () => {
  await using cache = await cacheWithoutApt();
  const locked = await lockLiblzf(cache.debs);
  await writeFile(locked.path, 'a package');
  await using packages = new DebianPackages();
  expect(await packages.fetch(query)).toEqual([locked]);
});

test.for([
  { why: 'damaged', content: 'a packagE', refresh: false },
  { why: 'to be refreshed', content: 'a package', refresh: true },
])('a package that is $why is asked for again', async ({ content, refresh }) => {
  await using cache = await cacheWithoutApt();
  const locked = await lockLiblzf(cache.debs);
  await writeFile(locked.path, content);
  await using packages = new DebianPackages({ refresh });
  await expect(packages.fetch(query)).rejects.toMatchObject({ name: 'LabError', code: 'MissingTool' });
  expect((await readdir(cache.debs)).filter((name) => name.startsWith('.apt'))).toEqual([]);
});

test('the mirror is the one that serves the release of this machine', () => {
  const printed = [
    `'http://other.example/node/dists/nodistro/InRelease' other_InRelease 0`,
    `'http://mirror.example/debian-security/dists/bookworm-security/InRelease' security_InRelease 0`,
    `'http://mirror.example/debian/dists/bookworm-updates/InRelease' updates_InRelease 0`,
    `'http://mirror.example/debian/dists/bookworm/InRelease' bookworm_InRelease 0`,
    `'http://mirror.example/debian/dists/bookworm/main/binary-amd64/Packages.xz' Packages 0`,
  ].join('\n');
  expect(mirrorOf(printed, 'bookworm')).toBe('http://mirror.example/debian');
  expect(mirrorOf(printed, 'noble')).toBeUndefined();
});

test('what apt would download is read with its real version and checksum', () => {
  const hash = sha256('libcap2');
  const printed = `W: something else\n'http://mirror.example/pool/libcap2_2.75%2bb3_amd64.deb' libcap2_1%3a2.75+b3_amd64.deb 28988 SHA256:${hash}\n`;
  expect(parsePrintedUris(printed)).toEqual([
    { name: 'libcap2', version: '1:2.75+b3', sha256: hash, fileName: 'libcap2_1%3a2.75+b3_amd64.deb' },
  ]);
});

test.for([
  ['8.0.1+dfsg1-1~bpo12+1', '8.0.1'],
  ['9.1.2-1', '9.1.2'],
  ['1:2.75-10+deb13u1+b3', '2.75'],
  ['9.2.0~rc1-1', '9.2.0-rc1'],
])('Debian calls it %s, its makers %s', ([debian, upstream]) => {
  expect(upstreamVersion(debian!)).toBe(upstream);
});
