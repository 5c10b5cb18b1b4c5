import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const MOUNT = '/sys/fs/cgroup';

/**
 * Version 2 has one hierarchy; version 1 has one per controller, and often a version 2 one without controllers beside them.
 * The project is built and tested on machines of the second kind. Pure version 2 follows the kernel's documentation: no
 * process sits in an inner cgroup (programs in `system`, pods in `kubepods`), controllers are handed down from the root.
 */
function cgroupHierarchies(): string[] {
  if (isVersion2(MOUNT)) return [MOUNT];
  return readdirSync(MOUNT)
    .map((entry) => join(MOUNT, entry))
    .filter((dir) => existsSync(join(dir, 'cgroup.procs')));
}

function isVersion2(dir: string): boolean {
  return existsSync(join(dir, 'cgroup.controllers'));
}

/** Make a cgroup in every hierarchy and give it what it needs before a process may enter. Returns its directories. */
export function createCgroup(path: string): string[] {
  return cgroupHierarchies().map((hierarchy) => {
    let dir = hierarchy;
    for (const part of path.split('/').filter(Boolean)) {
      enableControllers(dir);
      const parent = dir;
      dir = join(dir, part);
      mkdirSync(dir, { recursive: true });
      inheritCpuset(parent, dir);
    }
    return dir;
  });
}

/** Version 2: children get only the controllers that the parent hands down. Those it cannot hand down are left out. */
function enableControllers(dir: string): void {
  if (!isVersion2(dir)) return;
  for (const controller of readFileSync(join(dir, 'cgroup.controllers'), 'utf8').trim().split(' ').filter(Boolean)) {
    tryWrite(join(dir, 'cgroup.subtree_control'), `+${controller}`);
  }
}

/** Version 1: a cpuset without cpus and mems accepts no process. */
function inheritCpuset(parent: string, dir: string): void {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    if (!existsSync(join(dir, file)) || isVersion2(dir)) continue;
    if (readFileSync(join(dir, file), 'utf8').trim() === '') {
      writeFileSync(join(dir, file), readFileSync(join(parent, file), 'utf8').trim());
    }
  }
}

/** Everything that runs below a cgroup, in any hierarchy. */
function processesIn(path: string): Set<number> {
  const pids = new Set<number>();
  for (const dir of cgroupTree(path)) {
    for (const pid of readLines(join(dir, 'cgroup.procs'))) pids.add(Number(pid));
  }
  // The kernel's way of writing "a process that you cannot see"; for kill it would mean our own process group.
  pids.delete(0);
  return pids;
}

/** End everything below a cgroup, also what was frozen or is being forked meanwhile. */
export async function killCgroup(path: string, timeoutMs = 10_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (let pids = processesIn(path); pids.size > 0 && Date.now() < deadline; pids = processesIn(path)) {
    for (const dir of cgroupTree(path)) tryWrite(join(dir, 'freezer.state'), 'THAWED');
    for (const pid of pids) tryKill(pid);
    await sleep(20);
  }
}

/** End everything below a cgroup and remove it. What the kernel cannot end yet is left for the next removal. */
export async function removeCgroup(path: string, timeoutMs = 10_000): Promise<void> {
  await killCgroup(path, timeoutMs);
  for (const dir of cgroupTree(path)) tryRemove(dir);
}

/** Remove a cgroup if nothing is in it. */
export function removeEmptyCgroup(path: string): void {
  for (const hierarchy of cgroupHierarchies()) tryRemove(join(hierarchy, path));
}

/** All directories of a cgroup and its descendants, deepest first. */
function cgroupTree(path: string): string[] {
  const below = (dir: string): string[] => {
    try {
      const children = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
      return [...children.flatMap((child) => below(join(dir, child.name))), dir];
    } catch {
      return [];
    }
  };
  return cgroupHierarchies().flatMap((hierarchy) => below(join(hierarchy, path)));
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone already
  }
}

function tryRemove(dir: string): void {
  try {
    rmdirSync(dir);
  } catch {
    // in use, or gone already
  }
}

function tryWrite(file: string, text: string): void {
  try {
    if (existsSync(file)) writeFileSync(file, text);
  } catch {
    // the kernel says no for controllers and states that do not apply here
  }
}
