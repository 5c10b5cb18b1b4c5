import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ValkeyVersion, rdbFormat } from '@valkey-operator/valkey';
import { APPEND_ONLY_DIRECTORY, SNAPSHOT } from '../data-directory.ts';

const HEADER_BYTES = 9;

/** Whether files lie there that a Valkey of this version refuses: it ends at once with "Can't handle RDB format version". */
export async function hasUnreadableFiles(directory: string, reader: ValkeyVersion): Promise<boolean> {
  const appendOnly = join(directory, APPEND_ONLY_DIRECTORY);
  const names = await readdir(appendOnly).catch(() => []);
  const bases = names.filter((name) => name.endsWith('.base.rdb')).map((name) => join(appendOnly, name));
  const formats = await Promise.all([join(directory, SNAPSHOT), ...bases].map(readFormat));
  return formats.some((format) => format !== undefined && format > rdbFormat(reader));
}

/** "REDIS0011" or "VALKEY080"; undefined for what is not there or is no RDB. */
async function readFormat(path: string): Promise<number | undefined> {
  const file = await open(path).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    const [, format] = /^(?:REDIS|VALKEY)(\d+)$/.exec(buffer.toString('latin1', 0, bytesRead)) ?? [];
    return format === undefined ? undefined : Number(format);
  } finally {
    await file.close();
  }
}
