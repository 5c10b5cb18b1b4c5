import { isDeepStrictEqual } from 'node:util';
import type { ValkeyCluster, ValkeyClusterStatus } from '@valkey-operator/api';

type Status = NonNullable<ValkeyCluster['status']>;
type Detail = NonNullable<ValkeyClusterStatus['status']>;

/**
 * While something is under way every report changes some word of a status, several times a second. People read no faster
 * than this, and each write costs the API server more than all else that the operation asks of it. What the next plan starts
 * from, which is the essence, is written at once, and so is everything when the cluster is at rest.
 */
export class StatusPace<T extends object> {
  readonly #paceMs: number;
  readonly #essence: (status: T) => object;
  /** By cluster: the time of the last write. */
  readonly #writtenAt = new Map<string, number>();

  constructor(paceMs: number, essence: (status: T) => object) {
    this.#paceMs = paceMs;
    this.#essence = essence;
  }

  /** How long to hold a status back; 0: it is written now. */
  holdMs(key: string, present: T | undefined, next: T, isAtRest: boolean, now: number): number {
    const left = (this.#writtenAt.get(key) ?? 0) + this.#paceMs - now;
    const isSame = () => present !== undefined && isDeepStrictEqual(this.#essenceOf(present), this.#essenceOf(next));
    if (left > 0 && !isAtRest && isSame()) return left;
    this.#writtenAt.set(key, now);
    return 0;
  }

  forget(key: string): void {
    this.#writtenAt.delete(key);
  }

  /** As the API server has it: a property that is undefined is not there. */
  #essenceOf(status: T): unknown {
    return JSON.parse(JSON.stringify(this.#essence(status)));
  }
}

/** What goes on, in words: the figures in it change with every report. */
const PROGRESS: ReadonlySet<string> = new Set(['Progressing', 'Ready']);

export function createSummaryPace(): StatusPace<Status> {
  return new StatusPace(1_000, ({ conditions, orchestration, ...rest }) => ({
    ...rest,
    orchestration: orchestration && { ...orchestration, message: undefined },
    conditions: conditions?.map((each) => (PROGRESS.has(each.type) ? { ...each, message: undefined } : each)),
  }));
}

export function createDetailPace(): StatusPace<Detail> {
  return new StatusPace(2_000, ({ nodes: _nodes, shards: _shards, migrations: _migrations, ...rest }) => rest);
}
