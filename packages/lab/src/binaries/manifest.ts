import { fileURLToPath } from 'node:url';

export const PROGRAMS = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'kubectl',
  'etcd',
  'coredns',
] as const;
export type Program = (typeof PROGRAMS)[number];

export const COMPONENTS = ['kubernetes', 'etcd', 'coredns'] as const;
export type ComponentName = (typeof COMPONENTS)[number];

/** The names Go and the projects' releases use, not Node's. */
export type Arch = string;

/** One download of a project's own release. */
export interface ReleaseFile {
  url: string;
  /** Known beforehand: what the host sends today cannot change what is accepted. */
  sha256?: string;
  /** Where the project publishes the checksum; read only while `sha256` is not known. */
  checksumUrl: string;
  /** The program inside a tar archive; a release without archive is the program itself. */
  member?: string;
}

export interface Component {
  version: string;
  programs: readonly Program[];
  /** The one binary of ours that holds all `programs`: the stem of `<product>-<version>.zst` and of its Go module. */
  product: string;
  /** sha256 of the unpacked product that an assets folder may hold. */
  assets: Readonly<Record<Arch, string>>;
  release(program: Program, arch: Arch): ReleaseFile;
  build: {
    module: string;
    ldflags: readonly string[];
    /** How many packages a build from nothing compiles: the length of the progress bar, no more. */
    packages: number;
  };
}

export type Manifest = Readonly<Record<ComponentName, Component>>;

const goModule = (name: string) => fileURLToPath(new URL(`../../go/${name}`, import.meta.url));

const KUBERNETES = 'v1.35.4';
const [KUBERNETES_MAJOR, KUBERNETES_MINOR] = KUBERNETES.slice(1).split('.');
const ETCD = 'v3.7.3';
const COREDNS = 'v1.15.0';

/**
 * Checksums of official releases, by `<component>/<file>`. Empty on purpose: this list was written where those hosts cannot be
 * reached, and a number nobody verified is worse than none. Until a file is listed here, the checksum its project publishes
 * beside it is used. That finds a damaged download, but not a dishonest host.
 */
const RELEASE_SHA256: Readonly<Record<string, string>> = {};

/** Everything the lab runs, at one version each. A new version changes this file and the go.mod of its module, nothing else. */
export const MANIFEST: Manifest = {
  kubernetes: {
    version: KUBERNETES,
    programs: ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy', 'kubectl'],
    product: 'hyperkube',
    assets: { amd64: 'c3e0580f73c9330faf123409a122142cec901f12f838a33cc86108e5e7b0303d' },
    release(program, arch) {
      const url = `https://dl.k8s.io/${KUBERNETES}/bin/linux/${arch}/${program}`;
      return { url, checksumUrl: `${url}.sha256`, sha256: RELEASE_SHA256[`kubernetes/${arch}/${program}`] };
    },
    build: {
      module: goModule('hyperkube'),
      ldflags: [
        `-X k8s.io/component-base/version.gitVersion=${KUBERNETES}`,
        `-X k8s.io/component-base/version.gitMajor=${KUBERNETES_MAJOR}`,
        `-X k8s.io/component-base/version.gitMinor=${KUBERNETES_MINOR}`,
      ],
      packages: 2691,
    },
  },
  etcd: {
    version: ETCD,
    programs: ['etcd'],
    product: 'etcd',
    assets: { amd64: 'cc8a5582450f1e215897c9951de8c293d23b2b676adb04c1bd38baa61d149b16' },
    release(_program, arch) {
      const folder = `etcd-${ETCD}-linux-${arch}`;
      const base = `https://github.com/etcd-io/etcd/releases/download/${ETCD}`;
      const file = `${folder}.tar.gz`;
      return {
        url: `${base}/${file}`,
        checksumUrl: `${base}/SHA256SUMS`,
        sha256: RELEASE_SHA256[`etcd/${file}`],
        member: `${folder}/etcd`,
      };
    },
    build: { module: goModule('etcd'), ldflags: [], packages: 565 },
  },
  coredns: {
    version: COREDNS,
    programs: ['coredns'],
    product: 'coredns',
    assets: { amd64: '79e9bc14abc9d370def779dd931dd86c86985adcbec0d2c4eb402bf1cff6fcbe' },
    release(_program, arch) {
      const file = `coredns_${COREDNS.slice(1)}_linux_${arch}.tgz`;
      const url = `https://github.com/coredns/coredns/releases/download/${COREDNS}/${file}`;
      return { url, checksumUrl: `${url}.sha256`, sha256: RELEASE_SHA256[`coredns/${file}`], member: 'coredns' };
    },
    build: { module: goModule('coredns'), ldflags: [], packages: 797 },
  },
};

export function hostArch(): Arch {
  return process.arch === 'x64' ? 'amd64' : process.arch;
}
