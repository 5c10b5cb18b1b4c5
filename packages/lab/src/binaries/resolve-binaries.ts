import { resolve } from 'node:path';
import { cacheDir } from '../cache-dir.ts';
import { LabError } from '../errors.ts';
import type { Progress } from '../progress.ts';
import { assetsRung } from './assets-rung.ts';
import { buildRung } from './build-rung.ts';
import { cacheRung } from './cache-rung.ts';
import { downloadRung } from './download-rung.ts';
import { linkPrograms } from './link-programs.ts';
import { COMPONENTS, type ComponentName, MANIFEST, type Manifest, type Program, hostArch } from './manifest.ts';
import type { Rung, RungContext } from './rung.ts';
import { openStore } from './store.ts';

/** The ladder, first that works. Its first rung of all, a cluster that exists already, needs no binaries. */
const LADDER = { assets: assetsRung, cache: cacheRung, download: downloadRung, build: buildRung } satisfies Record<
  string,
  Rung
>;
export type RungName = keyof typeof LADDER;
const ALL_RUNGS: readonly RungName[] = ['assets', 'cache', 'download', 'build'];

export interface ResolveOptions {
  progress: Progress;
  /** Folder with binaries, plain or packed. Default: KUBEBUILDER_ASSETS. */
  assetsDir?: string;
  /** Default: the user's cache directory. */
  cache?: string;
  /** The rungs to try, in this order. Default: all. */
  rungs?: readonly RungName[];
  manifest?: Manifest;
}

export interface Binaries {
  /** Holds an executable under the name of each program. */
  dir: string;
  versions: Record<ComponentName, string>;
  /** Which rung gave each program. */
  sources: Record<Program, RungName>;
}

interface Found {
  file: string;
  rung: RungName;
}

/** Find or make every program of the manifest, and put them together in one folder. */
export async function resolveBinaries({
  progress,
  assetsDir = process.env.KUBEBUILDER_ASSETS,
  cache = cacheDir('binaries'),
  rungs = ALL_RUNGS,
  manifest = MANIFEST,
}: ResolveOptions): Promise<Binaries> {
  // Links and locks are made from these paths, so they must not depend on the current directory.
  const root = resolve(cache);
  const context: RungContext = { manifest, arch: hostArch(), store: openStore(root), progress, assetsDir };
  const found = new Map<Program, Found>();
  for (const component of COMPONENTS) {
    for (const [program, source] of await climb(component, rungs, context)) found.set(program, source);
  }

  const entries = [...found];
  const versions = mapComponents((name) => manifest[name].version);
  const dir = await linkPrograms(root, new Map(entries.map(([program, { file }]) => [program, file])));
  const sources = Object.fromEntries(entries.map(([program, { rung }]) => [program, rung])) as Record<
    Program,
    RungName
  >;
  return { dir, versions, sources };
}

/** Programs that one rung does not have come from the next: a folder of envtest has an API server but no kubelet. */
async function climb(
  component: ComponentName,
  rungs: readonly RungName[],
  context: RungContext,
): Promise<Map<Program, Found>> {
  const { programs, version } = context.manifest[component];
  const found = new Map<Program, Found>();
  const reasons: string[] = [];
  for (const rung of rungs) {
    const missing = programs.filter((program) => !found.has(program));
    if (missing.length === 0) break;
    const result = await LADDER[rung](component, missing, context);
    for (const [program, file] of result.files) found.set(program, { file, rung });
    reasons.push(...result.reasons);
  }
  const missing = programs.filter((program) => !found.has(program));
  if (missing.length === 0) return found;
  throw new LabError(
    'BinaryUnavailable',
    `no ${missing.join(', ')} ${version}: ${reasons.join('; ')}`,
    describeWays(context.manifest),
  );
}

function describeWays(manifest: Manifest): string {
  const packed = COMPONENTS.map((name) => `${manifest[name].product}-${manifest[name].version}.zst`).join(', ');
  return [
    `set KUBEBUILDER_ASSETS to a folder with the programs or with ${packed}`,
    'or let this machine reach dl.k8s.io and github.com',
    'or install Go (https://go.dev/dl) and let it reach its module proxy',
  ].join(', ');
}

function mapComponents<T>(value: (name: ComponentName) => T): Record<ComponentName, T> {
  return { kubernetes: value('kubernetes'), etcd: value('etcd'), coredns: value('coredns') };
}
