import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LabError } from '../errors.ts';
import { withLock } from '../process-lock.ts';
import { run } from '../run.ts';
import { writeWhole } from '../write-whole.ts';
import { createCgroup } from './cgroups.ts';
import { layoutLab, MAX_LABS, nameLab, netsOf, STATE_ROOT } from './layout.ts';

/** What a lab must remember between commands; the rest follows from its name and slot (layout.ts), or is asked of the machine. */
export interface LabRecord {
  name: string;
  slot: number;
  /** Directory with the Kubernetes binaries that this lab runs. */
  binaries: string;
  /** False until `up` has finished; a lab that was cut off in the making is only good for being removed. */
  complete: boolean;
}

/** The record, or undefined when there is none that can be read. */
export function readRecord(name: string): LabRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(recordFile(name), 'utf8')) as Partial<LabRecord>;
    return typeof record.slot === 'number' && record.binaries
      ? ({ complete: false, ...record, name } as LabRecord)
      : undefined;
  } catch {
    return undefined;
  }
}

export function writeRecord(record: LabRecord): void {
  writeWhole(recordFile(record.name), JSON.stringify(record, null, 1));
}

export function listLabs(): string[] {
  if (!existsSync(STATE_ROOT)) return [];
  return readdirSync(STATE_ROOT).filter((entry) => !entry.startsWith('.') && readRecord(entry));
}

/** Slots are given and taken back by one process of the machine at a time. */
export function withMachineLock<T>(work: () => Promise<T>): Promise<T> {
  return withLock(STATE_ROOT, work);
}

/** Give a lab its slot: one that no other lab has and whose addresses and names the machine itself does not use. */
export function claimLab(name: string, binaries: string): Promise<LabRecord> {
  return withMachineLock(async () => {
    const taken = new Set(listLabs().map((lab) => readRecord(lab)?.slot));
    const inUse = await listNamesInUse();
    const slot = Array.from({ length: MAX_LABS }, (_, index) => index).find(
      (candidate) => !taken.has(candidate) && !usesSlot(inUse, candidate),
    );
    if (slot === undefined) {
      throw new LabError(
        'AddressInUse',
        `all ${MAX_LABS} address ranges for labs (10.200.0.0 - 10.247.255.255) are taken on this machine`,
        'remove a lab (make lab-status lists them) or a route into that range (ip route)',
      );
    }
    const { dir, cgroup } = layoutLab(name, slot);
    // The admin's kubeconfig and volumes that everybody may write to lie below.
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const record: LabRecord = { name, slot, binaries, complete: false };
    writeRecord(record);
    createCgroup(cgroup);
    return record;
  });
}

/** Addresses that the machine has routes to, and its links, as words. */
async function listNamesInUse(): Promise<string[]> {
  const routes = await run('ip', ['-4', 'route', 'show', 'table', 'all']);
  const links = await run('ip', ['-brief', 'link']);
  return `${routes.stdout} ${links.stdout}`.split(/\s+/);
}

export function usesSlot(words: readonly string[], slot: number): boolean {
  const { hostLink } = layoutLab('any', slot);
  const prefixes = Object.values(netsOf(slot)).map((net) => `${net}.`);
  return words.some((word) => word.split('@')[0] === hostLink || prefixes.some((prefix) => word.startsWith(prefix)));
}

function recordFile(name: string): string {
  return join(nameLab(name).dir, 'lab.json');
}
