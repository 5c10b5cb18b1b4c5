import { readdir, readFile, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { parseClusterNodes } from '@valkey-operator/valkey';
import type { Membership } from './node-memory.ts';
import { describeMembership } from './membership.ts';

/** What lies in Valkey's data directory. */
export interface DataOnDisk {
  /** Of nodes.conf, which Valkey itself keeps. */
  readonly membership: Membership | undefined;
  readonly hasSnapshot: boolean;
  readonly hasAppendOnlyFile: boolean;
}

export const SNAPSHOT = 'dump.rdb';
export const APPEND_ONLY_DIRECTORY = 'appendonlydir';
export const NODES_CONF = 'nodes.conf';

export async function inspectData(directory: string): Promise<DataOnDisk> {
  const [membership, hasSnapshot, hasAppendOnlyFile] = await Promise.all([
    readMembership(join(directory, NODES_CONF)),
    isFilled(join(directory, SNAPSHOT)),
    readdir(join(directory, APPEND_ONLY_DIRECTORY)).then(
      (names) => names.some((name) => name.endsWith('.manifest')),
      () => false,
    ),
  ]);
  return { membership, hasSnapshot, hasAppendOnlyFile };
}

/** Only ever on an explicit command, or where the files are of no use and another node has the data. */
export async function discardData(directory: string, { identity }: { identity: boolean }): Promise<void> {
  const names = [SNAPSHOT, APPEND_ONLY_DIRECTORY, ...(identity ? [NODES_CONF] : [])];
  await Promise.all(names.map((name) => rm(join(directory, name), { recursive: true, force: true })));
}

export async function freeBytes(directory: string): Promise<bigint> {
  const { bavail, bsize } = await statfs(directory, { bigint: true });
  return bavail * bsize;
}

/** A nodes.conf that cannot be read is as good as none to us; Valkey will say what is wrong with it. */
async function readMembership(file: string): Promise<Membership | undefined> {
  try {
    return describeMembership(parseClusterNodes(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

function isFilled(file: string): Promise<boolean> {
  return stat(file).then(
    ({ size }) => size > 0,
    () => false,
  );
}
