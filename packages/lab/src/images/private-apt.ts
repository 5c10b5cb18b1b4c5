import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LabError } from '../errors.ts';
import { run, type RunResult } from '../run.ts';
import { findDebianMirror } from './debian-mirror.ts';
import type { Arch } from './oci-image.ts';

export interface ResolvedPackage {
  name: string;
  version: string;
  sha256: string;
  fileName: string;
}

/** An apt with its own sources, lists and cache in a folder of its own; the host's proxy settings still apply. */
export class PrivateApt implements AsyncDisposable {
  readonly #dir: string;
  readonly #suites: string;

  private constructor(dir: string, suites: readonly string[]) {
    this.#dir = dir;
    this.#suites = suites.join(' + ');
  }

  static async open({
    arch,
    suites,
    parent,
  }: {
    arch: Arch;
    suites: readonly string[];
    parent: string;
  }): Promise<PrivateApt> {
    const { uri, keyring } = await findDebianMirror();
    const dir = await mkdtemp(join(parent, '.apt-'));
    const apt = new PrivateApt(dir, suites);
    try {
      await mkdir(join(dir, 'lists', 'partial'), { recursive: true });
      await mkdir(join(dir, 'archives', 'partial'), { recursive: true });
      await writeFile(join(dir, 'status'), '');
      const sources = suites.map(
        (suite) => `deb [arch=${arch} target=Packages signed-by=${keyring}] ${uri} ${suite} main\n`,
      );
      await writeFile(join(dir, 'sources.list'), sources.join(''));
      await writeFile(join(dir, 'apt.conf'), privateConfig(dir, arch));
      await apt.#run(['update']);
      return apt;
    } catch (error) {
      await apt[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#dir, { recursive: true, force: true });
  }

  /** Which versions the suites offer now. */
  async resolve(packages: readonly string[]): Promise<ResolvedPackage[]> {
    return parsePrintedUris((await this.#run(['download', '--print-uris', ...packages])).stdout);
  }

  /** Fetch packages into a folder on the same disk; apt checks each against the signed list that named it. */
  async download(packages: readonly ResolvedPackage[], into: string): Promise<void> {
    if (packages.length === 0) return;
    // A folder per call: two images may want the same package at the same time.
    const arrivals = await mkdtemp(join(this.#dir, 'arrivals-'));
    await this.#run(['download', ...packages.map(({ name, version }) => `${name}=${version}`)], arrivals);
    for (const { fileName } of packages) await rename(join(arrivals, fileName), join(into, fileName));
  }

  async #run(args: string[], cwd = this.#dir): Promise<RunResult> {
    const config = join(this.#dir, 'apt.conf');
    return run('apt-get', ['-q', '-c', config, ...args], { cwd }).catch((error: unknown) => {
      throw this.#explain(error);
    });
  }

  #explain(error: unknown): LabError {
    const said = error instanceof Error ? error.message : String(error);
    if (/no space left|enough free space/i.test(said)) {
      return new LabError(
        'DiskFull',
        `no room for packages in ${this.#dir}`,
        'free some space and run this again',
        error,
      );
    }
    const reasons = said.match(/\bE: .*/g) ?? [];
    return new LabError(
      'ImageUnavailable',
      `apt could not get packages from Debian ${this.#suites}: ${reasons.join(' ') || said}`,
      "check the network, and that the mirror in this machine's apt sources serves these suites",
      error,
    );
  }
}

/** Read after the host's own configuration (which may hold a proxy), so this wins. */
function privateConfig(dir: string, arch: Arch): string {
  return `
#clear APT::Update;
#clear APT::Architectures;
APT::Update::Error-Mode "any";
APT::Architecture "${arch}";
APT::Architectures "${arch}";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
Dir::State "${dir}";
Dir::State::lists "${dir}/lists";
Dir::State::status "${dir}/status";
Dir::Cache "${dir}";
Dir::Cache::archives "${dir}/archives";
Dir::Cache::pkgcache "${dir}/pkgcache.bin";
Dir::Cache::srcpkgcache "${dir}/srcpkgcache.bin";
Dir::Etc::sourcelist "${dir}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
`;
}

/** Lines of `apt-get download --print-uris`: 'URI' name_version_arch.deb size SHA256:hash */
export function parsePrintedUris(printed: string): ResolvedPackage[] {
  const lines = printed.matchAll(/^'\S+' (([^_\s]+)_([^_\s]+)_\S+\.deb) \d+ SHA256:([0-9a-f]{64})/gm);
  return [...lines].map(([, fileName, name, version, sha256]) => ({
    name: name!,
    version: decodeURIComponent(version!),
    sha256: sha256!,
    fileName: fileName!,
  }));
}
