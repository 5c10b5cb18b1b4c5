import { existsSync, mkdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { LabError } from '../errors.ts';
import type { Progress } from '../progress.ts';
import { run } from '../run.ts';
import { STATE_ROOT } from './layout.ts';

/** What the lab needs on the machine, and the Debian package that brings it. */
const TOOLS: Record<string, string> = {
  ip: 'iproute2',
  nft: 'nftables',
  iptables: 'iptables',
  conntrack: 'conntrack',
  nsenter: 'util-linux',
  containerd: 'containerd',
  ctr: 'containerd',
  runc: 'runc',
  '/usr/lib/cni/ptp': 'containernetworking-plugins',
};

const MIN_FREE_BYTES = 3 * 1024 ** 3;
/** Each kubelet and containerd watches many files; the kernel's default of 128 is used up by two nodes. */
const MIN_INOTIFY_INSTANCES = 1024;

/** Refuse early, with what to do about it, instead of failing in the middle. Installs missing Debian packages. */
export async function prepareHost(progress: Progress): Promise<void> {
  assertPossible({ platform: process.platform, uid: process.getuid?.() });
  const missing = missingTools();
  if (missing.length > 0) await installPackages(missing, progress);
  mkdirSync(STATE_ROOT, { recursive: true });
  assertDiskSpace(statfsSync(STATE_ROOT));
  raiseInotifyLimit();
}

export function assertPossible(host: { platform: string; uid: number | undefined }): void {
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

function missingTools(): string[] {
  const path = (process.env.PATH ?? '').split(delimiter).concat('/usr/sbin', '/sbin');
  const exists = (tool: string) => (tool.startsWith('/') ? existsSync(tool) : path.some((dir) => existsSync(join(dir, tool))));
  return Object.keys(TOOLS).filter((tool) => !exists(tool));
}

async function installPackages(tools: string[], progress: Progress): Promise<void> {
  const packages = [...new Set(tools.map((tool) => TOOLS[tool]!))];
  if (!existsSync('/usr/bin/apt-get')) {
    throw new LabError(
      'MissingTool',
      `missing on this machine: ${tools.join(', ')}`,
      `install what Debian calls ${packages.join(', ')} with your package manager`,
    );
  }
  await progress.step(`Install ${packages.join(', ')}`, async (step) => {
    // RUNLEVEL=1 keeps the packages from starting services: the lab runs its own containerd.
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
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
