import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../errors.ts';
import { toolPath } from '../run.ts';
import { createCgroup } from './cgroups.ts';

/** One long-running program of the lab, as it can be started again at any time by any process. */
export interface ComponentSpec {
  /** `etcd`, `kube-apiserver`, `node1/kubelet`, ... */
  name: string;
  /** Network namespace to run in; without one it shares the machine's. */
  netns?: string;
  /** File of the mount namespace to run in; without one it sees the machine's mounts. */
  mountNamespace?: string;
  argv: [string, ...string[]];
  log: string;
  cgroup: string;
}

/** A pid alone can be reused by a stranger; together with its start time it names one process for ever. */
export interface ProcessId {
  pid: number;
  startTime: string;
}

/** Start a component so that it outlives this process. It runs in its own session, in its namespaces and cgroup. */
export function startComponent(spec: ComponentSpec): ProcessId {
  const log = openSync(spec.log, 'a');
  try {
    // It enters its cgroup by itself, before it becomes the program: whoever kills us at this very moment leaves a process
    // that removing the lab finds there, or none. Every stage replaces the one before, so the pid stays the same.
    const args = ['-ec', enterCgroup(spec.cgroup), spec.name, ...namespaceCommand(spec), ...spec.argv];
    const child = spawn('/bin/sh', args, {
      detached: true,
      stdio: ['ignore', log, log],
      env: { PATH: toolPath(), HOME: '/root' },
    });
    child.on('error', () => {}); // the missing pid says the same
    const id = child.pid === undefined ? undefined : identifyProcess(child.pid);
    if (!id) {
      throw new LabError(
        'ComponentFailed',
        `${spec.name} cannot be started`,
        'the machine may be out of processes or memory',
      );
    }
    child.unref();
    return id;
  } finally {
    closeSync(log);
  }
}

function enterCgroup(path: string): string {
  const entries = createCgroup(path).map((dir) => `echo $$ > '${dir}/cgroup.procs'`);
  return [...entries, 'exec "$@"'].join('\n');
}

/** Not `ip netns exec`: it remounts /sys and so hides the cgroups from containerd and the kubelet. */
function namespaceCommand({ netns, mountNamespace }: ComponentSpec): string[] {
  const flags = [
    ...(netns ? [`--net=/run/netns/${netns}`] : []),
    ...(mountNamespace ? [`--mount=${mountNamespace}`] : []),
  ];
  return flags.length > 0 ? ['nsenter', ...flags, '--'] : [];
}

/** The process that has this pid now. */
export function identifyProcess(pid: number): ProcessId | undefined {
  const startTime = startTimeOf(pid);
  return startTime === undefined ? undefined : { pid, startTime };
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

export function waitForExit(id: ProcessId, timeoutMs: number): Promise<boolean> {
  return becomes(() => !isAlive(id), timeoutMs);
}

export function waitForFreeze(id: ProcessId, timeoutMs: number): Promise<boolean> {
  return becomes(() => isFrozen(id), timeoutMs);
}

async function becomes(check: () => boolean, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (!check()) {
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
