import { expect } from 'vitest';
import type { LoadReport } from '../load/load.ts';
import { startLoad } from '../load/start-load.ts';
import type { TestCluster } from './test-cluster.ts';

/** Writes on every shard before a fault counts as having hit a cluster in use. */
const MIN_WRITES = 100;
/** Writes on every shard after it: the cluster serves again. */
const MIN_WRITES_AFTER = 30;
const POLL = { timeout: 90_000, interval: 250 };

/** What a load saw of a fault. */
export interface Outcome {
  readonly report: LoadReport;
  /** The longest gap of any shard with no fault: what this machine does to us anyway. */
  readonly noiseMs: number;
  /** The longest gap of any shard since the fault. */
  readonly gapMs: number;
}

export interface Trial {
  readonly fault: () => Promise<void>;
  readonly heal: () => Promise<void>;
  /** Whether there are replicas that can confirm writes. */
  readonly waits?: boolean;
}

/**
 * Runs `fault` on a cluster that is being written to, and `heal` until all is well again; then expects that every shard
 * is written to and that no write is lost that its replicas had confirmed. The load must have been there before the fault.
 */
export async function underLoad(cluster: TestCluster, { fault, heal, waits = true }: Trial): Promise<Outcome> {
  await using load = await startLoad({ findSeeds: () => cluster.seeds() });
  const fewest = async () => Math.min(...(await load.read()).shards.map(({ acknowledged }) => acknowledged));
  await expect.poll(fewest, POLL).toBeGreaterThanOrEqual(MIN_WRITES);
  await load.startPhase();
  await fault();
  await heal();
  const healed = (await load.read()).shards.map(({ acknowledged }) => acknowledged);
  const after = async () => Math.min(...(await load.read()).shards.map((shard, i) => shard.acknowledged - healed[i]!));
  await expect.poll(after, POLL).toBeGreaterThanOrEqual(MIN_WRITES_AFTER);
  const report = await load.stop();
  if (waits) for (const { waited } of report.shards) expect(waited).toBeGreaterThan(MIN_WRITES / 4);
  expect(report.shards.map(({ lost, lostKeys }) => ({ waited: lost.waited, lostKeys }))).toEqual(
    report.shards.map(() => ({ waited: 0, lostKeys: expect.any(Array) })),
  );
  const longest = (phase: number) => Math.max(...report.shards.map(({ longestGapMs }) => longestGapMs[phase]!));
  const outcome = { report, noiseMs: longest(0), gapMs: longest(1) };
  console.error(describeOutcome(outcome));
  return outcome;
}

function describeOutcome({ report: { shards }, noiseMs, gapMs }: Outcome): string {
  const sum = (count: (shard: LoadReport['shards'][number]) => number) => shards.reduce((all, s) => all + count(s), 0);
  const counts = `${sum((s) => s.acknowledged)} writes, ${sum((s) => s.waited)} waited for, ${sum((s) => s.uncertain)} unknown`;
  const lost = `lost ${sum((s) => s.lost.waited)} waited for, ${sum((s) => s.lost.plain)} plain`;
  const errors = shards.flatMap((s) => Object.entries(s.errors).map(([kind, count]) => `${s.slots}: ${count} ${kind}`));
  const text = [`gap ${Math.round(gapMs)} ms (noise ${Math.round(noiseMs)} ms)`, counts, lost, ...errors];
  return text.join(', ');
}
