import { constants } from 'node:fs';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureFifo, isReaderGone, openWhenRead, releaseOpener, renewFifo } from './fifo.ts';

describe('the FIFO in the place of valkey.conf', () => {
  let directory: string;
  let path: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sidecar-fifo-'));
    path = join(directory, 'valkey.conf');
    await ensureFifo(path);
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('gives a reader what is written after it has come', async () => {
    const read = readFile(path, 'utf8');
    const writer = await openWhenRead(path);
    await writer.write('port 6379\n');
    await writer.close();
    expect(await read).toBe('port 6379\n');
  });

  it('does not take one that still reads for the next one', async () => {
    const first = readFile(path, 'utf8');
    const writer = await openWhenRead(path);
    await renewFifo(path);
    const next = openWhenRead(path);
    await writer.write('first');
    await writer.close();
    expect(await first).toBe('first');

    const second = readFile(path, 'utf8');
    const nextWriter = await next;
    await nextWriter.write('second');
    await nextWriter.close();
    expect(await second).toBe('second');
  });

  it('tells when the reader has gone', async () => {
    const reader = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = await openWhenRead(path);
    await reader.close();
    const error: unknown = await writer.write('too late').catch((reason: unknown) => reason);
    await writer.close();
    expect(isReaderGone(error)).toBe(true);
  });

  it('lets go of who waits for a reader', async () => {
    const waiting = openWhenRead(path);
    await releaseOpener(path);
    const writer = await waiting;
    expect(writer.fd).toBeGreaterThan(0);
    await writer.close();
  });

  it('replaces whatever else lies there, and keeps a FIFO that is there', async () => {
    const other = join(directory, 'other');
    await writeFile(other, 'a file');
    await ensureFifo(other);
    const read = readFile(other, 'utf8');
    await ensureFifo(other);
    const writer = await openWhenRead(other);
    await writer.close();
    expect(await read).toBe('');
  });
});
