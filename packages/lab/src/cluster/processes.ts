import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../errors.ts';

/** One long-running program of the lab, as it can be started again at any time by any process. */
export interface ComponentSpec {
  /** `etcd`, `kube-apiserver`, `node1/kubelet`, ... */
  name: string;
  /** Network namespace to run in; without one it shares the machine's. */
  netns?: string;
  argv: [string, ...string[]];
  env?: Record<string, string>;
  log: string;
  /** Directories of the cgroup hierarchies that the process is put into before it can have children. */
  cgroupDirs: string[];
}

/** A pid alone can be reused by a stranger; together with its start time it names one process for ever. */
export interface ProcessId {
  pid: number;
  startTime: string;
}

/** Start a component so that it outlives this process. It runs in its own session, network namespace and cgroup. */
export function startComponent(spec: ComponentSpec): ProcessId {
  const log = openSync(spec.log, 'a');
  try {
    // nsenter replaces itself with the program, so the child's pid is the program's own. `ip netns exec` would remount
    // /sys and hide the cgroups from containerd and the kubelet.
    const [command, ...args] = spec.netns ? ['nsenter', `--net=/run/netns/${spec.netns}`, '--', ...spec.argv] : spec.argv;
    const child = spawn(command!, args, {
      detached: true,
      stdio: ['ignore', log, log],
      env: { PATH: process.env.PATH, HOME: '/root', ...spec.env },
    });
    child.on('error', () => {}); // a missing pid below says the same
    if (child.pid === undefined) {
      throw new LabError('MissingTool', `${command} cannot be started for ${spec.name}`, `check that ${command} is installed`);
    }
    child.unref();
    joinCgroups(child.pid, spec.cgroupDirs);
    return { pid: child.pid, startTime: startTimeOf(child.pid) ?? '' };
  } finally {
    closeSync(log);
  }
}

function joinCgroups(pid: number, dirs: string[]): void {
  for (const dir of dirs) {
    const procs = openSync(`${dir}/cgroup.procs`, 'w');
    try {
      writeSync(procs, String(pid));
    } finally {
      closeSync(procs);
    }
  }
}

export function thisProcess(): ProcessId {
  return { pid: process.pid, startTime: startTimeOf(process.pid) ?? '' };
}

export function isAlive(id: ProcessId): boolean {
  return startTimeOf(id.pid) === id.startTime;
}

export function isFrozen(id: ProcessId): boolean {
  return isAlive(id) && stateOf(id.pid) === 'T';
}

/** Send a signal to exactly this process; a process that is gone (or whose pid was reused) is left alone. */
export function signalProcess(id: ProcessId, signal: NodeJS.Signals): boolean {
  if (!isAlive(id)) return false;
  try {
    return process.kill(id.pid, signal);
  } catch {
    return false;
  }
}

export async function waitForExit(id: ProcessId, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (isAlive(id)) {
    if (Date.now() > deadline) return false;
    await sleep(20);
  }
  return true;
}

/** Ask politely, then not: a frozen process cannot hear SIGTERM, SIGKILL reaches it all the same. */
export async function stopProcess(id: ProcessId, graceMs = 3000): Promise<void> {
  if (signalProcess(id, 'SIGTERM') && !isFrozen(id) && (await waitForExit(id, graceMs))) return;
  signalProcess(id, 'SIGKILL');
  await waitForExit(id, 5000);
}

/** Fields of /proc/PID/stat behind the command name, which may itself contain blanks and parentheses. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

function stateOf(pid: number): string | undefined {
  return statOf(pid)?.[0];
}

function startTimeOf(pid: number): string | undefined {
  const stat = statOf(pid);
  // A zombie has ended; only its parent has not heard of it yet.
  return stat === undefined || stat[0] === 'Z' ? undefined : stat[19];
}
