import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { lstat, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';

/** A FIFO that is there is kept: the hook of the container made it, and a Valkey may wait at it already. */
export async function ensureFifo(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isFIFO()) return;
  if (found) await rm(path, { recursive: true });
  try {
    await makeFifo(path);
  } catch (error) {
    const made = await lstat(path).catch(() => undefined);
    if (!made?.isFIFO()) throw error; // else the hook came first after all
  }
}

/**
 * Puts a new FIFO in the place of the one that a Valkey has open. Each FIFO serves one start: a second writer on the first
 * one would be taken for the next start while Valkey still reads, and give it its configuration twice. The hook has made one
 * in advance: a first start need not wait for a program that makes it while all the pods of a cluster are busy starting.
 */
export async function renewFifo(path: string): Promise<void> {
  const next = `${path}.next`;
  await ensureFifo(next);
  await rename(next, path);
}

/** Node has no call for it; the image brings the one program. Group-writable: the two containers may differ in their user. */
async function makeFifo(path: string): Promise<void> {
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
