// Test support: a manifest of tiny shell scripts, so that every rung can be climbed in milliseconds and without a network.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { silentProgress } from '../progress.ts';
import { type Component, type Manifest, type Program, hostArch } from './manifest.ts';
import type { RungContext } from './rung.ts';
import { openStore } from './store.ts';

export interface FakeWorld extends AsyncDisposable {
  root: string;
  assets: string;
  cache: string;
  manifest: Manifest;
  context: RungContext;
  /** Put a program, or anything else, into the assets folder. */
  addAsset(name: string, content: string | Uint8Array): Promise<string>;
}

export const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');

/** What `name` of this version is: a program that tells its version, like the real ones. */
export const fakeProgram = (name: string, version: string) =>
  `#!/bin/sh\necho "${name} ${version} as $(basename "$0")"\n`;

export const pack = (content: string) => zstdCompressSync(Buffer.from(content));

/** Port 9 is one that fetch refuses: without `releases` nothing is ever sent. */
export async function makeFakeWorld(releases = 'http://127.0.0.1:9'): Promise<FakeWorld> {
  const root = await mkdtemp(join(tmpdir(), 'valkey-operator-lab-'));
  const assets = join(root, 'assets');
  const cache = join(root, 'cache');
  await mkdir(assets);

  const component = async (
    product: string,
    version: string,
    programs: Program[],
    archive: boolean,
  ): Promise<Component> => {
    const module = join(root, 'go', product);
    await mkdir(module, { recursive: true });
    await writeFile(join(module, 'go.mod'), `module ${product}\n\ngo 1.26.0\n`);
    await writeFile(join(module, 'main.go'), 'package main\n');
    await writeFile(join(module, 'go.sum'), '');
    return {
      version,
      programs,
      product,
      assets: { [hostArch()]: sha256(fakeProgram(product, version)) },
      release(program) {
        const url = `${releases}/${program}${archive ? '.tgz' : ''}`;
        return { url, checksumUrl: `${url}.sha256`, member: archive ? `folder/${program}` : undefined };
      },
      build: { module, ldflags: [], packages: 2 },
    };
  };
  const manifest: Manifest = {
    kubernetes: await component('hyperkube', 'v1.2.3', ['kube-apiserver', 'kubelet', 'kubectl'], false),
    etcd: await component('etcd', 'v3.0.1', ['etcd'], true),
    coredns: await component('coredns', 'v1.9.0', ['coredns'], true),
  };
  return {
    root,
    assets,
    cache,
    manifest,
    context: { manifest, arch: hostArch(), store: openStore(cache), progress: silentProgress, assetsDir: assets },
    async addAsset(name, content) {
      const path = join(assets, name);
      await writeFile(path, content, { mode: 0o755 });
      return path;
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}
