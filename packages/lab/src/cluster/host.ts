import { existsSync, mkdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { LabError } from '../errors.ts';
import type { Progress } from '../progress.ts';
import { run, toolPath } from '../run.ts';
import { STATE_ROOT } from './layout.ts';

/** What the lab needs on the machine, and the Debian package that brings it. */
const TOOLS: Record<string, string> = {
  ip: 'iproute2',
  nft: 'nftables',
  iptables: 'iptables',
  conntrack: 'conntrack',
  nsenter: 'util-linux',
  unshare: 'util-linux',
  mount: 'mount',
  containerd: 'containerd',
  ctr: 'containerd',
  runc: 'runc',
  '/usr/lib/cni/ptp': 'containernetworking-plugins',
};

const NEEDED_CAPABILITIES = { CAP_NET_ADMIN: 12n, CAP_SYS_ADMIN: 21n };
const MIN_FREE_BYTES = 3 * 1024 ** 3;
/** Each kubelet and containerd watches many files; the kernel's default of 128 is used up by two nodes. */
const MIN_INOTIFY_INSTANCES = 1024;

interface Host {
  platform: string;
  uid: number | undefined;
  /** What root may do here, as a bit set (capabilities(7)). */
  capabilities: bigint;
}

/** Bring what a lab needs: missing Debian packages, room on the disk, kernel limits. */
export async function prepareHost(progress: Progress): Promise<void> {
  const missing = Object.keys(TOOLS).filter((tool) => !isInstalled(tool));
  if (missing.length > 0) await installPackages(missing, progress);
  mkdirSync(STATE_ROOT, { recursive: true });
  assertDiskSpace(statfsSync(STATE_ROOT));
  raiseInotifyLimit();
}

/** Refuse early, with what to do about it, instead of failing in the middle. */
export function assertPossible(host: Host = thisHost()): void {
  if (host.platform !== 'linux') {
    throw new LabError(
      'NotLinux',
      `the lab needs Linux (network namespaces and cgroups), this is ${host.platform}`,
      'run it in a Linux machine or VM, or use an existing cluster with --context NAME',
    );
  }
  if (host.uid !== 0) {
    throw new LabError(
      'NotRoot',
      'the lab makes network namespaces, mounts and cgroups, and needs root for it',
      'run the same command with sudo, or use an existing cluster with --context NAME',
    );
  }
  const missing = Object.entries(NEEDED_CAPABILITIES).filter(([, bit]) => !(host.capabilities & (1n << bit)));
  if (missing.length > 0) {
    throw new LabError(
      'NotRoot',
      `root lacks ${missing.map(([name]) => name).join(' and ')} here, as in a container without privileges`,
      'run it on the machine itself or in a privileged container, or use an existing cluster with --context NAME',
    );
  }
}

function thisHost(): Host {
  const status = process.platform === 'linux' ? readFileSync('/proc/self/status', 'utf8') : '';
  const capabilities = BigInt(`0x${/^CapEff:\s*(\S+)/m.exec(status)?.[1] ?? '0'}`);
  return { platform: process.platform, uid: process.getuid?.(), capabilities };
}

export function assertDiskSpace({ bavail, bsize }: { bavail: number; bsize: number }): void {
  const free = bavail * bsize;
  if (free < MIN_FREE_BYTES) {
    const gib = (bytes: number) => (bytes / 1024 ** 3).toFixed(1);
    throw new LabError(
      'DiskFull',
      `${STATE_ROOT} has ${gib(free)} GiB free, a lab needs ${gib(MIN_FREE_BYTES)} GiB`,
      'free some disk space and run this again',
    );
  }
}

function isInstalled(tool: string): boolean {
  const path = toolPath().split(delimiter);
  return tool.startsWith('/') ? existsSync(tool) : path.some((dir) => existsSync(join(dir, tool)));
}

async function installPackages(tools: string[], progress: Progress): Promise<void> {
  const packages = [...new Set(tools.map((tool) => TOOLS[tool]!))];
  if (!isInstalled('apt-get')) {
    throw new LabError(
      'MissingTool',
      `missing on this machine: ${tools.join(', ')}`,
      `install what Debian calls ${packages.join(', ')} with your package manager`,
    );
  }
  await progress.step(`Install ${packages.join(', ')}`, async (step) => {
    // RUNLEVEL=1 keeps the packages from starting services: the lab runs its own containerd.
    const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    try {
      await run('apt-get', ['update', '-q'], { env, onLine: step.note });
      await run('apt-get', ['install', '-qy', '--no-install-recommends', ...packages], { env, onLine: step.note });
    } catch (error) {
      throw new LabError(
        'MissingTool',
        `missing on this machine: ${tools.join(', ')}; installing them failed: ${(error as Error).message}`,
        `run: apt-get update && apt-get install ${packages.join(' ')}`,
        error,
      );
    }
    step.note('');
  });
}

function raiseInotifyLimit(): void {
  const file = '/proc/sys/fs/inotify/max_user_instances';
  if (Number(readFileSync(file, 'utf8')) < MIN_INOTIFY_INSTANCES) writeFileSync(file, String(MIN_INOTIFY_INSTANCES));
}
