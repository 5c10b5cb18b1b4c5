import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * Everything on this machine that bears the mark of a lab, looked for with the system's own tools and not with the lab's
 * code: processes, network namespaces, mounts, cgroups, directories.
 */
export function listTraces(lab: string): string[] {
  const mark = new RegExp(`valkey-lab[-/]${lab}([-/]|$)`, 'm');
  const marked = (what: string, lines: string[]) =>
    lines.filter((line) => mark.test(line)).map((line) => `${what} ${line}`);
  return [
    ...marked(
      'netns',
      runTool('ip', 'netns', 'list').map((line) => line.split(' ')[0]!),
    ),
    ...marked(
      'mount',
      readFileSync('/proc/self/mountinfo', 'utf8')
        .split('\n')
        .map((line) => line.split(' ')[4] ?? ''),
    ),
    ...marked(
      'log link',
      globSync('/var/log/containers/*').map((link) => `${link} -> ${targetOf(link)}`),
    ),
    ...marked('process', listProcesses()),
    ...globSync(`/sys/fs/cgroup{,/*}/valkey-lab/${lab}`).map((dir) => `cgroup ${dir}`),
    ...globSync(`/{var/lib,run}/valkey-lab/${lab}`).map((dir) => `directory ${dir}`),
  ];
}

/** What a lab has on the machine itself carries its slot, the number in its addresses, and not its name. */
export function listHostNetwork(slot: number): string[] {
  const words = [
    ...runTool('ip', '-oneline', 'link'),
    ...runTool('ip', 'route'),
    ...runTool('nft', 'list', 'tables'),
  ].join(' ');
  return (
    words.match(
      new RegExp(`\\b(vlab${slot}|valkey_lab_${slot}|10\\.(${200 + slot}|${216 + slot}|${232 + slot})\\.\\S+)`, 'g'),
    ) ?? []
  );
}

/** Where containerd, its shims, CNI plugins and kubelets of the machine keep their state: a lab has no business there. */
export function listForeignState(): string[] {
  return globSync([
    '/run/containerd/{s,fifo,runc/*}/*',
    '/var/lib/cni/**',
    '/var/lib/kubelet/**',
    '/var/log/{pods,containers}/*',
  ]).toSorted();
}

/** Processes that belong to a lab: those it runs, by what they were started with, and those in its containers, by their cgroup. */
function listProcesses(): string[] {
  return globSync('/proc/[0-9]*').flatMap((dir) => {
    try {
      const command = readFileSync(`${dir}/cmdline`, 'utf8').replaceAll('\0', ' ');
      // A zombie has ended and waits for its parent to take note; kubectl is somebody asking, and no part of a lab.
      if (command === '' || /^\S*\/kubectl /.test(command)) return [];
      return [`${dir.slice('/proc/'.length)} ${command}\n${readFileSync(`${dir}/cgroup`, 'utf8')}`];
    } catch {
      return [];
    }
  });
}

function runTool(command: string, ...args: string[]): string[] {
  return execFileSync(command, args, { encoding: 'utf8' }).split('\n');
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}
