import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import rootPackage from '../../../../package.json' with { type: 'json' };
import { sha256OfFile } from '../binaries/sha256.ts';
import { LabError } from '../errors.ts';
import { appConfig, appLayers, type App } from './app-image.ts';
import type { Layer } from './layer-cache.ts';
import type { ImageConfig } from './oci-image.ts';
import { packageLayer, type PackageLayerRecipe } from './package-layer.ts';
import { entryOf, NONROOT, VALKEY } from './rootfs.ts';
import type { TarEntry } from './tar.ts';
import type { Workshop } from './workshop.ts';

export interface ImageRecipe {
  name: string;
  /** The names a pod may ask for; `version` is what the packages turned out to hold. */
  refs(version: string): string[];
  config: ImageConfig;
  layers(workshop: Workshop): Promise<Layer>[];
}

const PROJECT = join(import.meta.dirname, '../../../..');
const BOOKWORM = ['bookworm', 'bookworm-backports'];
const TRIXIE = ['trixie'];

/**
 * Our own images. Node's flags for the sidecar trade speed it does not need for memory that every pod pays for; the last one
 * lets it collect its garbage (keep-heap-small.ts). Each is worth it, measured once each, at 100 to 200 messages a second (MiB
 * resident/anonymous): all 69/23; while V8 collected when it wanted to, 73/28, and then without lite mode 94/41, without
 * the single arena of app-image.ts 75/30.
 */
export const apps: App[] = [
  { name: 'operator', entry: join(PROJECT, 'packages/operator/src/main.ts'), nodeFlags: ['--max-semi-space-size=2'] },
  {
    name: 'sidecar',
    entry: join(PROJECT, 'packages/sidecar/src/main.ts'),
    nodeFlags: ['--lite-mode', '--max-semi-space-size=1', '--v8-pool-size=0', '--expose-gc'],
    // For the start gate: Node has no call that makes a FIFO, and the postStart hook is `find -exec mkfifo`.
    programs: {
      packages: ['coreutils', 'findutils', 'libselinux1', 'libpcre2-8-0'],
      files: { 'usr/bin/mkfifo': 'usr/bin/mkfifo', 'usr/bin/find': 'usr/bin/find' },
    },
  },
];

/** Images that are not what their tags say, for whoever tests what becomes of such. */
export const mislabelled = {
  otherVersion: 'docker.io/example/other-version:9.9',
  noValkey: 'docker.io/example/no-valkey:9.9',
};

/** Every image that a lab holds. */
export function labImages(ours: readonly App[] = apps): ImageRecipe[] {
  const libraries = [
    'libc6',
    'libgcc-s1',
    'libatomic1',
    'libstdc++6',
    'libjemalloc2',
    'liblzf1',
    'libsystemd0',
    'libzstd1',
    'zlib1g',
  ];
  return [
    valkey('8.0', {
      from: [BOOKWORM],
      packages: [...libraries, 'libssl3', 'libcap2', 'libgcrypt20', 'libgpg-error0', 'liblz4-1', 'liblzma5'],
    }),
    // The bundle's name is what the samples ask for; its modules are not packaged, this is the plain server. The other one lies.
    valkey('8.1', { from: [TRIXIE], packages: [...libraries, 'libssl3t64', 'libcap2'] }, [
      'docker.io/valkey/valkey-bundle:8.1',
      mislabelled.otherVersion,
    ]),
    valkey('9.1', { from: [['forky'], ['sid']], packages: [...libraries, 'libssl3t64'] }),
    exporter('1.69.0'),
    pause(),
    {
      name: 'coredns',
      refs: () => ['registry.k8s.io/coredns/coredns:v1.15.0'],
      config: { user: `${NONROOT}:${NONROOT}`, entrypoint: ['/coredns'] },
      layers: (workshop) => [corednsLayer(workshop)],
    },
    ...ours.map((app) => ({
      name: app.name,
      refs: () => [`ghcr.io/valkey-operator/${app.name}:${rootPackage.version}`],
      config: appConfig(app, rootPackage.version),
      layers: (workshop: Workshop) => appLayers(workshop, app),
    })),
  ];
}

type PackageSource = Pick<PackageLayerRecipe, 'from' | 'packages'>;

function valkey(minor: string, source: PackageSource, aliases: string[] = []): ImageRecipe {
  return {
    name: `valkey-${minor}`,
    refs: (version) => [`docker.io/valkey/valkey:${minor}`, `docker.io/valkey/valkey:${version}`, ...aliases],
    config: {
      user: `${VALKEY}:${VALKEY}`,
      cmd: ['valkey-server'],
      // 8.x does not start when LANG names a locale that the image lacks.
      env: { LC_ALL: 'C' },
      workingDir: '/data',
    },
    layers: (workshop) => [
      packageLayer(workshop, {
        from: source.from,
        packages: ['valkey-tools', ...source.packages],
        main: { package: 'valkey-tools', version: minor },
        // Laid out like the official image: one program under several names, which looks at the name it was called by.
        files: {
          'usr/local/bin/valkey-server': 'usr/bin/valkey-check-rdb',
          'usr/local/bin/valkey-cli': 'usr/bin/valkey-cli',
          'usr/local/bin/valkey-benchmark': 'usr/bin/valkey-benchmark',
        },
        entries: [
          ...['valkey-sentinel', 'valkey-check-rdb', 'valkey-check-aof'].map((name): TarEntry => ({
            kind: 'symlink',
            path: `usr/local/bin/${name}`,
            target: 'valkey-server',
          })),
          { kind: 'directory', path: 'data', owner: VALKEY },
        ],
      }),
    ],
  };
}

function exporter(version: string): ImageRecipe {
  return {
    name: 'exporter',
    refs: () => [version, version.replace(/[.]\d+$/, '')].map((tag) => `docker.io/oliver006/redis_exporter:v${tag}`),
    config: { user: '59000:59000', entrypoint: ['/redis_exporter'] },
    layers: (workshop) => [
      packageLayer(workshop, {
        from: [TRIXIE],
        packages: ['prometheus-redis-exporter', 'libc6'],
        main: { package: 'prometheus-redis-exporter', version },
        files: { redis_exporter: 'usr/bin/prometheus-redis-exporter' },
      }),
    ],
  };
}

/** Kubernetes' name, but Debian's program for the same job: it holds the pod's namespaces, reaps orphans, ends when told. */
function pause(): ImageRecipe {
  return {
    name: 'pause',
    refs: () => ['registry.k8s.io/pause:3.10', mislabelled.noValkey],
    config: { user: `${NONROOT}:${NONROOT}`, entrypoint: ['/pause', '-P'] },
    layers: (workshop) => [
      packageLayer(workshop, { from: [TRIXIE], packages: ['catatonit'], files: { pause: 'usr/bin/catatonit' } }),
    ],
  };
}

async function corednsLayer({ cache, binariesDir }: Workshop): Promise<Layer> {
  const binary = join(binariesDir, 'coredns');
  const digest = await sha256OfFile(binary).catch((cause: unknown) => {
    throw new LabError(
      'BinaryUnavailable',
      `no CoreDNS binary at ${binary}`,
      'fetch the binaries of the lab first',
      cause,
    );
  });
  return cache.layer({ coredns: digest }, async () => cache.write([await entryOf(await realpath(binary), 'coredns')]));
}
