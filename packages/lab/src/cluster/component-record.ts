import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeWhole } from '../write-whole.ts';
import type { LabNames, NodeLayout } from './layout.ts';
import type { ComponentSpec, ProcessId } from './processes.ts';

/** How a component is started, and the process it became when that was last done. */
export interface ComponentRecord {
  spec: ComponentSpec;
  process: ProcessId;
}

/** One file each: two processes that start different components of a lab at once do not undo each other's notes. */
export function writeComponent(lab: LabNames, record: ComponentRecord): void {
  const file = join(componentsDir(lab), `${record.spec.name}.json`);
  mkdirSync(dirname(file), { recursive: true });
  writeWhole(file, JSON.stringify(record, null, 1));
}

export function removeComponents(lab: LabNames, node: NodeLayout): void {
  rmSync(join(componentsDir(lab), node.name), { recursive: true, force: true });
}

/** All components that were ever started: the control plane's, then those of node1, node2, ... */
export function readComponents(lab: LabNames): ComponentRecord[] {
  return listFiles(componentsDir(lab))
    .flatMap((file) => readComponent(file) ?? [])
    .toSorted((a, b) => compareNames(a.spec.name, b.spec.name));
}

function compareNames(a: string, b: string): number {
  const ofNode = (name: string) => Number(name.includes('/'));
  return ofNode(a) - ofNode(b) || a.localeCompare(b, 'en', { numeric: true });
}

function readComponent(file: string): ComponentRecord | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ComponentRecord;
  } catch {
    return undefined;
  }
}

function listFiles(dir: string): string[] {
  try {
    const entries = readdirSync(dir, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.name.endsWith('.json')).map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}

function componentsDir(lab: LabNames): string {
  return join(lab.dir, 'components');
}
