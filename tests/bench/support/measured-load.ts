import { setTimeout as sleep } from 'node:timers/promises';
import { type LoadProcess, startLoad, type StartLoadOptions } from '../../load/start-load.ts';

/** Writes on every shard: it is served. */
const MIN_WRITES = 30;
const PATIENCE_MS = 240_000;

/** Does something to a cluster that is written to, before and after; what was confirmed is looked for in the end. */
export async function whileWritten<T>(
  findSeeds: StartLoadOptions['findSeeds'],
  use: (load: LoadProcess) => Promise<T>,
): Promise<T> {
  await using load = await startLoad({ findSeeds });
  await untilWritten(load);
  const result = await use(load);
  await untilWritten(load);
  await stopWithoutLoss(load);
  return result;
}

/** The longest gap of any shard in milliseconds, from before a change until every shard is written to after it. */
export async function measureGap(load: LoadProcess, change: () => Promise<void>): Promise<number> {
  await untilWritten(load);
  await load.startPhase();
  await change();
  await untilWritten(load);
  const { shards } = await load.read();
  return Math.max(...shards.map(({ longestGapMs }) => longestGapMs.at(-1)!));
}

/** Until every shard has taken some more writes. */
async function untilWritten(load: LoadProcess): Promise<void> {
  const before = (await load.read()).shards.map(({ acknowledged }) => acknowledged);
  await until('every shard is written to', async () =>
    (await load.read()).shards.every(({ acknowledged }, index) => acknowledged - before[index]! >= MIN_WRITES),
  );
}

/** Ends the load. A figure of a cluster that has lost a confirmed write, or was asked to confirm none, is none. */
async function stopWithoutLoss(load: LoadProcess): Promise<void> {
  const { shards } = await load.stop();
  if (shards.some(({ waited }) => waited === 0)) throw new Error('of a shard no write was confirmed by its replicas');
  const lost = shards.reduce((sum, shard) => sum + shard.lost.waited, 0);
  if (lost > 0) throw new Error(`${lost} writes are lost that replicas had confirmed`);
}

/** Asks until it holds; what fails meanwhile does not hold. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`waited ${PATIENCE_MS / 1000} s until ${what}`);
    await sleep(50);
  }
}
