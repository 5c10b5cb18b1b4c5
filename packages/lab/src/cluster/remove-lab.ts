import { existsSync, rmdirSync, rmSync } from 'node:fs';
import { listMounts } from '../list-mounts.ts';
import { withLock, type LockOptions } from '../process-lock.ts';
import { run } from '../run.ts';
import { removeCgroup, removeEmptyCgroup } from './cgroups.ts';
import { readComponents } from './component-record.ts';
import { readRecord, withMachineLock } from './lab-record.ts';
import { CGROUP_ROOT, layoutLab, nameLab, RUN_ROOT, slotOf, type LabNames } from './layout.ts';
import { labNamespaces, readControlPlaneAddress, removeHostNetwork, removeNamespaces } from './network.ts';
import { signalProcess } from './processes.ts';

/** Making, changing and removing a lab of one name never overlap, whoever asks for it. */
export function withLabLock<T>(name: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  return withLock(nameLab(name).dir, work, options);
}

export async function removeLab(name: string, options: LockOptions = {}): Promise<void> {
  await withLabLock(name, () => clearLab(name), options);
}

/**
 * Remove all that a lab made, however it ended. Works from names alone (layout.ts), so it also clears what a lab that was
 * killed half-made left behind. Its directory goes last: as long as anything is left, the lab can be found and removed again.
 */
export async function clearLab(name: string): Promise<void> {
  const lab = nameLab(name);
  const slot = await findSlot(lab);
  for (const { process: id } of readComponents(lab)) signalProcess(id, 'SIGKILL');
  await removeCgroup(lab.cgroup);
  await unmountBelow(lab);
  await removeNamespaces(lab);
  if (slot !== undefined) await removeHostNetwork(layoutLab(name, slot));
  // Again if need be: what was killed may have made its last file a moment ago.
  for (const dir of [lab.runDir, lab.dir]) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  await withMachineLock(removeSharedParents);
}

/** What exists of a lab of this name on the machine. */
export function labLeavings(name: string): string[] {
  const lab = nameLab(name);
  return [
    ...[lab.dir, lab.runDir].filter((dir) => existsSync(dir)).map((dir) => `directory ${dir}`),
    ...labNamespaces(lab).map((ns) => `network namespace ${ns}`),
    ...mountsBelow(lab).map((path) => `mount ${path}`),
  ];
}

async function findSlot(lab: LabNames): Promise<number | undefined> {
  const slot = readRecord(lab.name)?.slot;
  if (slot !== undefined) return slot;
  const address = await readControlPlaneAddress(lab);
  return address === undefined ? undefined : slotOf(address);
}

async function unmountBelow(lab: LabNames): Promise<void> {
  // Lazily: a mount that a dying process still holds disappears with it.
  for (const path of mountsBelow(lab)) await run('umount', ['--lazy', path], { allowFailure: true });
}

/** Mount points below the lab's directories, deepest first. */
function mountsBelow({ dir, runDir }: LabNames): string[] {
  return listMounts()
    .filter((path) => path.startsWith(`${dir}/`) || path.startsWith(`${runDir}/`))
    .toSorted((a, b) => b.length - a.length);
}

/** The last lab takes along what all labs stand on. Images stay: they are a cache. */
async function removeSharedParents(): Promise<void> {
  removeEmptyCgroup(CGROUP_ROOT);
  try {
    rmdirSync(RUN_ROOT);
  } catch {
    // another lab is there, or none ever was
  }
}
