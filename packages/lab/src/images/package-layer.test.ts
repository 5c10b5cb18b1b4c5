import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createReadStream } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { LabError } from '../errors.ts';
import { run } from '../run.ts';
import type { DebianPackage, PackageQuery } from './debian-packages.ts';
import { LayerCache } from './layer-cache.ts';
import { packageLayer } from './package-layer.ts';
import type { Workshop } from './workshop.ts';

/** Make a real package that holds a program, its library and some documentation. */
async function makeDeb(dir: string, version: string): Promise<DebianPackage> {
  const root = join(dir, `valkey-tools-${version}`);
  const files = {
    'DEBIAN/control': `Package: valkey-tools\nVersion: ${version}\nArchitecture: amd64\nMaintainer: Test <test@example.com>\nDescription: test\n`,
    'usr/bin/valkey-cli': `valkey-cli ${version}`,
    'usr/share/doc/valkey-tools/copyright': 'text',
    'lib/x86_64-linux-gnu/liblzf.so.1.5': 'library',
  };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(root, name, '..'), { recursive: true });
    await writeFile(join(root, name), content);
  }
  const path = `${root}.deb`;
  await run('dpkg-deb', ['--root-owner-group', '--build', root, path]);
  return { name: 'valkey-tools', version, sha256: '', fileName: 'valkey-tools.deb', path };
}

/** A workshop whose suites offer the given versions; a suite that is not named cannot be reached. */
async function openWorkshop(offers: Record<string, string>) {
  const dir = await mkdtempDisposable(join(tmpdir(), 'package-layer-test-'));
  vi.stubEnv('XDG_CACHE_HOME', join(dir.path, 'cache'));
  const fetch = async ({ suites }: PackageQuery) => {
    const version = offers[suites[0]!];
    if (!version) throw new LabError('ImageUnavailable', `no answer from ${suites[0]}`, 'check the network');
    return [await makeDeb(dir.path, version)];
  };
  const step = { note() {}, progress() {} };
  const workshop: Workshop = { arch: 'amd64', cache: new LayerCache(), debian: { fetch }, binariesDir: dir.path, step };
  return {
    workshop,
    async [Symbol.asyncDispose]() {
      vi.unstubAllEnvs();
      await dir.remove();
    },
  };
}

const recipe = {
  from: [['forky'], ['sid']],
  packages: ['valkey-tools'],
  main: { package: 'valkey-tools', version: '9.1' },
  files: { 'usr/local/bin/valkey-cli': 'usr/bin/valkey-cli' },
};

test('a layer holds the wanted programs and all libraries, in one place, and nothing else of the packages', async () => {
  await using opened = await openWorkshop({ forky: '9.1.2-1' });
  const layer = await packageLayer(opened.workshop, recipe);
  expect(layer.version).toBe('9.1.2');
  const archive = await buffer(createReadStream(opened.workshop.cache.store.path(layer.digest)));
  const { stdout } = await run('tar', ['--list', '--file', '-'], { input: archive });
  const listed = stdout.trim().split('\n');
  expect(listed).toContain('usr/local/bin/valkey-cli');
  expect(listed).toContain('usr/lib/x86_64-linux-gnu/liblzf.so.1.5');
  expect(listed).toContain('etc/passwd');
  expect(listed.filter((path) => path.includes('share') || path.startsWith('lib/'))).toEqual([]);
});

test('the next suite is tried when the first has moved on or does not answer', async () => {
  const situations: Record<string, string>[] = [{ forky: '9.2.0-1', sid: '9.1.3-1' }, { sid: '9.1.3-1' }];
  for (const offers of situations) {
    await using opened = await openWorkshop(offers);
    expect(await packageLayer(opened.workshop, recipe)).toMatchObject({ version: '9.1.3' });
  }
});

test('an image is never labelled with a version that it does not hold', async () => {
  await using opened = await openWorkshop({ forky: '9.10.0-1', sid: '9.2.0-1' });
  const refusal = await packageLayer(opened.workshop, recipe).catch((error: unknown) => error);
  expect(refusal).toMatchObject({
    code: 'ImageUnavailable',
    message: 'cannot get valkey-tools 9.1: Debian forky has valkey-tools 9.10.0; Debian sid has valkey-tools 9.2.0',
  });
});
