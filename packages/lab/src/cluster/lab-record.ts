import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LabError } from '../errors.ts';
import { run } from '../run.ts';
import { labDir, MAX_LABS, STATE_ROOT } from './layout.ts';
import { isAlive, thisProcess, type ComponentSpec, type ProcessId } from './processes.ts';

/** What a lab must remember between commands; everything else follows from its name and slot (layout.ts). */
export interface LabRecord {
  name: string;
  slot: number;
  /** Directory with the Kubernetes binaries that this lab runs. */
  binaries: string;
  nodes: number[];
  components: Record<string, { spec: ComponentSpec; process?: ProcessId }>;
  /** False until `up` has finished; a lab that was cut off in the making is only good for being removed. */
  complete: boolean;
}

export function readRecord(name: string): LabRecord | undefined {
  try {
    return JSON.parse(readFileSync(recordFile(name), 'utf8')) as LabRecord;
  } catch {
    return undefined;
  }
}

export function writeRecord(record: LabRecord): void {
  const file = recordFile(record.name);
  writeFileSync(`${file}.new`, JSON.stringify(record, null, 1));
  renameSync(`${file}.new`, file);
}

export function listLabs(): string[] {
  if (!existsSync(STATE_ROOT)) return [];
  return readdirSync(STATE_ROOT).filter((entry) => existsSync(join(STATE_ROOT, entry, 'lab.json')));
}

/**
 * Claim a name and a slot of address space. A claim is a file that only one process can make, and a slot is only taken
 * when the machine itself has no route into its addresses.
 */
export async function claimLab(name: string, binaries: string): Promise<LabRecord> {
  mkdirSync(labDir(name), { recursive: true });
  releaseOrphanedSlots();
  const routes = (await run('ip', ['-4', 'route', 'show', 'table', 'all'])).stdout.split(/\s+/);
  for (let slot = 0; slot < MAX_LABS; slot++) {
    const prefixes = [200 + slot, 216 + slot, 232 + slot].map((octet) => `10.${octet}.`);
    if (routes.some((word) => prefixes.some((prefix) => word.startsWith(prefix)))) continue;
    try {
      writeFileSync(claimFile(slot), JSON.stringify({ name, by: thisProcess() } satisfies SlotClaim), { flag: 'wx' });
    } catch {
      continue;
    }
    const record: LabRecord = { name, slot, binaries, nodes: [], components: {}, complete: false };
    writeRecord(record);
    return record;
  }
  throw new LabError(
    'AlreadyRunning',
    `all ${MAX_LABS} address ranges for labs (10.200.0.0 - 10.247.255.255) are taken on this machine`,
    'remove a lab (make lab-status lists them) or a route in that range',
  );
}

export function releaseSlot(slot: number): void {
  rmSync(claimFile(slot), { force: true });
}

/** The slot that a lab holds, also when its record was lost. */
export function findSlot(name: string): number | undefined {
  return readRecord(name)?.slot ?? slots().find((slot) => readClaim(slot)?.name === name);
}

/** A claim whose maker was killed before it wrote the record, or whose record was removed by hand, holds nothing. */
function releaseOrphanedSlots(): void {
  for (const slot of slots()) {
    const claim = readClaim(slot);
    if (claim && readRecord(claim.name)?.slot !== slot && !isAlive(claim.by)) releaseSlot(slot);
  }
}

interface SlotClaim {
  name: string;
  by: ProcessId;
}

function slots(): number[] {
  return Array.from({ length: MAX_LABS }, (_, slot) => slot);
}

function readClaim(slot: number): SlotClaim | undefined {
  try {
    return JSON.parse(readFileSync(claimFile(slot), 'utf8')) as SlotClaim;
  } catch {
    return undefined;
  }
}

function claimFile(slot: number): string {
  return join(STATE_ROOT, `.slot${slot}`);
}

function recordFile(name: string): string {
  return join(labDir(name), 'lab.json');
}
