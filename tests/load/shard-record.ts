import { GapMeter } from './gap-meter.ts';
import type { Assurance, Loss } from './key-history.ts';
import type { LoadShard } from './load-plan.ts';

export interface ShardReport {
  readonly slots: string;
  readonly primaryId: string;
  readonly acknowledged: number;
  readonly waited: number;
  /** Nobody knows whether they were carried out. */
  readonly uncertain: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly lost: Loss;
  /** The keys of the lost writes, a few of them. */
  readonly lostKeys: readonly string[];
  /** The longest time without an acknowledged write, for each phase. */
  readonly longestGapMs: readonly number[];
}

const SAMPLES = 10;

/** What became of the writes to one shard. */
export class ShardRecord {
  readonly shard: LoadShard;
  readonly #gaps: GapMeter;
  readonly #errors: Record<string, number> = {};
  readonly #lostKeys: string[] = [];
  readonly #acknowledged: Record<Assurance, number> = { plain: 0, waited: 0 };
  readonly #lost: Record<Assurance, number> = { plain: 0, waited: 0 };
  #uncertain = 0;

  constructor(shard: LoadShard, now: number) {
    this.shard = shard;
    this.#gaps = new GapMeter(now);
  }

  /** The primary has taken a write; that is what gaps are made of, however long a WAIT takes after it. */
  answered(now: number): void {
    this.#gaps.tick(now);
  }

  acknowledged(assurance: Assurance): void {
    this.#acknowledged[assurance] += 1;
  }

  failed(kind: string, executed: 'no' | 'maybe'): void {
    this.#errors[kind] = (this.#errors[kind] ?? 0) + 1;
    if (executed === 'maybe') this.#uncertain += 1;
  }

  lost(key: string, { plain, waited }: Loss): void {
    this.#lost.plain += plain;
    this.#lost.waited += waited;
    if (plain + waited > 0 && this.#lostKeys.length < SAMPLES) this.#lostKeys.push(key);
  }

  startPhase(): void {
    this.#gaps.startPhase();
  }

  read(now: number): ShardReport {
    return {
      slots: this.shard.slots.toString(),
      primaryId: this.shard.primaryId,
      acknowledged: this.#acknowledged.plain + this.#acknowledged.waited,
      waited: this.#acknowledged.waited,
      uncertain: this.#uncertain,
      errors: { ...this.#errors },
      lost: { ...this.#lost },
      lostKeys: [...this.#lostKeys],
      longestGapMs: this.#gaps.read(now),
    };
  }
}
