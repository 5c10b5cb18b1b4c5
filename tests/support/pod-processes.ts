import { globSync, readFileSync } from 'node:fs';

/** Processes of a pod on this machine, by the program they run. A lab's nodes share the machine's processes. */
export function findPodProcesses(podUid: string, program: string): number[] {
  return globSync('/proc/[0-9]*').flatMap((dir) => {
    try {
      const [command = ''] = readFileSync(`${dir}/cmdline`, 'utf8').split('\0');
      const runs = command.split(/[ /]/).includes(program);
      return runs && readFileSync(`${dir}/cgroup`, 'utf8').includes(podUid) ? [Number(dir.slice('/proc/'.length))] : [];
    } catch {
      return []; // it ended meanwhile
    }
  });
}

/** Signals the program in a pod; it is an error if it does not run there, because then the fault would not hit. */
export function signalPodProcess(podUid: string, program: string, signal: NodeJS.Signals): void {
  const pids = findPodProcesses(podUid, program);
  if (pids.length === 0) throw new Error(`no ${program} runs in pod ${podUid}`);
  for (const pid of pids) process.kill(pid, signal);
}
