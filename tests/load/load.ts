import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeAddress } from '@valkey-operator/valkey';
import { ClusterClient } from '@valkey-operator/valkey/cluster-client';
import { connect } from '@valkey-operator/valkey/connection';
import { listShards, replicasToWaitFor, tagsIn, type WaitLevel } from './load-plan.ts';
import { ShardRecord, type ShardReport } from './shard-record.ts';
import { Topology } from './topology.ts';
import { readSequence, Writer, type WrittenKey } from './writer.ts';

export interface LoadOptions {
  /** The writers of every shard, by how they confirm. */
  readonly writers: readonly WaitLevel[];
  /** Of each writer. */
  readonly keys: number;
  /** Between two writes of a writer. */
  readonly pauseMs: number;
  /** How long the final check may take to read a key: the cluster should be well by then. */
  readonly readWithinMs: number;
}

export const defaultLoad: LoadOptions = { writers: ['all', 'none'], keys: 50, pauseMs: 20, readWithinMs: 30_000 };

export interface LoadReport {
  readonly seconds: number;
  readonly shards: readonly ShardReport[];
  readonly keys: number;
}

/** Writers on every shard of a cluster, from `start` until `stop`, which checks all that was acknowledged. */
export class Load {
  readonly #options: LoadOptions;
  readonly #topology: Topology;
  readonly #findSeeds: () => Promise<readonly NodeAddress[]>;
  /** Keys and values of one load are not those of another. */
  readonly #run = randomUUID().slice(0, 8);
  readonly #startedAt: number;
  readonly #records: ShardRecord[];
  readonly #writers: { readonly name: string; readonly record: ShardRecord; readonly writer: Writer }[];
  readonly #ended = new AbortController();
  readonly #running: Promise<unknown>;

  static async start(findSeeds: () => Promise<readonly NodeAddress[]>, options: LoadOptions): Promise<Load> {
    const topology = new Topology(findSeeds);
    const shards = listShards(await topology.load());
    const now = performance.now();
    return new Load(
      options,
      topology,
      findSeeds,
      shards.map((shard) => new ShardRecord(shard, now)),
    );
  }

  private constructor(
    options: LoadOptions,
    topology: Topology,
    findSeeds: () => Promise<readonly NodeAddress[]>,
    records: ShardRecord[],
  ) {
    this.#options = options;
    this.#topology = topology;
    this.#findSeeds = findSeeds;
    this.#records = records;
    this.#startedAt = performance.now();
    this.#writers = records.flatMap((record, index) => this.#writersOf(record, index));
    this.#running = Promise.all(this.#writers.map(({ writer }) => writer.run(this.#ended.signal)));
    // A writer that found what nobody wrote is heard of when the load is stopped.
    this.#running.catch(() => {});
  }

  /** Gaps are told apart by phase; the first one begins with the load. */
  startPhase(): void {
    for (const record of this.#records) record.startPhase();
  }

  read(now = performance.now()): LoadReport {
    return {
      seconds: (now - this.#startedAt) / 1000,
      shards: this.#records.map((record) => record.read(now)),
      keys: this.#writers.reduce((sum, { writer }) => sum + writer.everything.length, 0),
    };
  }

  async stop(): Promise<LoadReport> {
    const endedAt = performance.now();
    this.#ended.abort();
    // Here the last WAIT runs out, which is no gap in the writing.
    await this.#running;
    this.#topology.close();
    const { seconds, shards } = this.read(endedAt);
    await this.#checkAll();
    const checked = this.read();
    // Gaps end with the writing; what the check found is added.
    const withGaps = checked.shards.map((shard, index) => ({ ...shard, longestGapMs: shards[index]!.longestGapMs }));
    return { ...checked, seconds, shards: withGaps };
  }

  #writersOf(record: ShardRecord, index: number) {
    const tags = tagsIn(record.shard.slots);
    return this.#options.writers.map((level, number) => {
      const name = `${this.#run}-s${index}w${number}`;
      const { keys, pauseMs } = this.#options;
      const replicas = replicasToWaitFor(level, record.shard);
      const writer = new Writer({ name, topology: this.#topology, record, tags, keys, pauseMs, replicas });
      return { name, record, writer };
    });
  }

  async #checkAll(): Promise<void> {
    using client = new ClusterClient({
      seeds: await this.#findSeeds(),
      topologyTimeoutMs: 2000,
      connect: (address) => connect({ address, timeoutMs: 2000 }),
    });
    const deadline = performance.now() + this.#options.readWithinMs;
    await Promise.all(
      this.#writers.map(async ({ name, record, writer }) => {
        for (const key of writer.everything) {
          const value = await readKey(client, key, deadline);
          record.lost(key.name, key.history.observe(readSequence(value, name)));
        }
      }),
    );
  }
}

async function readKey(client: ClusterClient, { name }: WrittenKey, deadline: number) {
  for (;;) {
    try {
      return await client.call(name, ['GET', name], { timeoutMs: 2000 });
    } catch (error) {
      if (performance.now() > deadline) throw new Error(`${name} cannot be read`, { cause: error });
      await sleep(100);
    }
  }
}
