import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { lstat, open, rm, type FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Node has no call for it; the image brings the one program. Group-writable: the two containers may differ in their user. */
export async function ensureFifo(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isFIFO()) return;
  if (found) await rm(path, { recursive: true });
  await promisify(execFile)('mkfifo', ['-m', '0660', path]);
}

/**
 * The writing end of the FIFO. The call returns when a Valkey has opened it to read its configuration: that is how every
 * start makes itself known, without polling. It blocks one thread of libuv's pool meanwhile.
 */
export function openWhenRead(path: string): Promise<FileHandle> {
  return open(path, constants.O_WRONLY);
}

/** Ends the wait of openWhenRead, which would otherwise keep the process from exiting. */
export async function releaseOpener(path: string): Promise<void> {
  const reader = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  await reader.close();
}

/** A Valkey that was ended while it waited: the next one will ask for itself. */
export function isReaderGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}
