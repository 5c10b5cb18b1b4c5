import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * Everything on this machine that bears the mark of a lab, looked for with the system's own tools and not with the lab's
 * code: processes, network namespaces, links, firewall tables, mounts, cgroups, directories.
 */
export function listTraces(lab: string): string[] {
  const mark = new RegExp(`valkey-lab[-/]${lab}([-/]|$)`);
  const lines = (command: string, ...args: string[]) => execFileSync(command, args, { encoding: 'utf8' }).split('\n');
  return [
    ...lines('ip', 'netns', 'list')
      .filter((line) => mark.test(line.split(' ')[0]!))
      .map((line) => `netns ${line}`),
    ...readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => mark.test(line.split(' ')[4] ?? ''))
      .map((line) => `mount ${line}`),
    ...globSync(`/sys/fs/cgroup{,/*}/valkey-lab/${lab}`).map((dir) => `cgroup ${dir}`),
    ...globSync(`/{var/lib,run}/valkey-lab/${lab}`).map((dir) => `directory ${dir}`),
    ...globSync('/var/log/containers/*')
      .filter((link) => mark.test(targetOf(link)))
      .map((link) => `log link ${link}`),
    ...processes()
      .filter(({ command }) => mark.test(command))
      .map(({ pid, command }) => `process ${pid} ${command}`),
  ];
}

/** Links and firewall tables carry the number of a lab, not its name: all of them, for when no lab should be left. */
export function listNetworkTraces(): string[] {
  const links = execFileSync('ip', ['-o', 'link'], { encoding: 'utf8' }).match(/vlab\d+/g) ?? [];
  const tables = execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' }).match(/valkey_lab_\d+/g) ?? [];
  return [...links, ...tables];
}

function processes(): { pid: string; command: string }[] {
  return globSync('/proc/[0-9]*').flatMap((dir) => {
    try {
      return [
        { pid: dir.slice('/proc/'.length), command: readFileSync(`${dir}/cmdline`, 'utf8').replaceAll('\0', ' ') },
      ];
    } catch {
      return [];
    }
  });
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}
