import { lstatSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from '../process-lock.ts';
import { run } from '../run.ts';
import { removeCgroup } from './cgroups.ts';
import { findSlot, readRecord, releaseSlot } from './lab-record.ts';
import { labDir, layoutLab, MAX_LABS, type LabLayout } from './layout.ts';
import { labNamespaces, removeNetwork } from './network.ts';
import { signalProcess } from './processes.ts';

/** Making and removing a lab of one name never overlap, whoever asks for it. */
export function withLabLock<T>(name: string, work: () => Promise<T>, onWait?: () => void): Promise<T> {
  return withLock(labDir(name), work, onWait);
}

export async function removeLab(name: string): Promise<void> {
  await withLabLock(name, () => clearLab(name));
}

/**
 * Remove all that a lab made, however it ended. Works from names alone (layout.ts), so it also clears what a lab that was
 * killed half-made left behind. The record goes last: as long as anything is left, the lab can be found and removed again.
 */
export async function clearLab(name: string): Promise<void> {
  const slot = findSlot(name) ?? (await slotFromNetwork(name));
  const lab = layoutLab(name, slot ?? MAX_LABS);
  for (const { process: id } of Object.values(readRecord(name)?.components ?? {})) {
    if (id) signalProcess(id, 'SIGKILL');
  }
  await removeCgroup(lab.cgroup);
  await unmountBelow([lab.dir, lab.runDir]);
  await removeNetwork(lab);
  removeLogLinks(lab);
  rmSync(lab.runDir, { recursive: true, force: true });
  rmSync(lab.dir, { recursive: true, force: true });
  if (slot !== undefined) releaseSlot(slot);
}

/** What exists of a lab of this name on the machine. */
export function labLeavings(name: string): string[] {
  const lab = layoutLab(name, findSlot(name) ?? MAX_LABS);
  const mounts = mountsBelow([lab.dir, lab.runDir]).map((path) => `mount ${path}`);
  const namespaces = labNamespaces(lab).map((ns) => `network namespace ${ns}`);
  const dir = readRecord(name) ? [`directory ${labDir(name)}`] : [];
  return [...dir, ...namespaces, ...mounts];
}

/** A lab whose files were deleted by hand still shows its slot in the address of its bridge. */
async function slotFromNetwork(name: string): Promise<number | undefined> {
  const { switchNetns } = layoutLab(name, 0);
  const { stdout } = await run('ip', ['-n', switchNetns, '-4', '-br', 'address'], { allowFailure: true });
  const octet = /\b10\.(\d+)\.0\.1\/24\b/.exec(stdout)?.[1];
  return octet === undefined ? undefined : Number(octet) - 232;
}

async function unmountBelow(dirs: string[]): Promise<void> {
  // Lazily: a mount that a dying process still holds disappears with it.
  for (const path of mountsBelow(dirs)) await run('umount', ['-l', path], { allowFailure: true });
}

/** Mount points at or below the directories, deepest first. */
function mountsBelow(dirs: string[]): string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4]?.replace(/\\040/g, ' ') ?? '')
    .filter((path) => dirs.some((dir) => path === dir || path.startsWith(`${dir}/`)))
    .sort((a, b) => b.length - a.length);
}

/** The kubelet links container logs into a directory that is the same for every node; only links into this lab go. */
function removeLogLinks(lab: LabLayout): void {
  const shared = '/var/log/containers';
  try {
    for (const entry of readdirSync(shared)) {
      const path = join(shared, entry);
      if (lstatSync(path).isSymbolicLink() && readlinkSync(path).startsWith(`${lab.dir}/`)) rmSync(path);
    }
  } catch {
    // no kubelet ever ran here
  }
}
