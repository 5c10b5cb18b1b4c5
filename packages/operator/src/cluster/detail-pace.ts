import { isDeepStrictEqual } from 'node:util';
import type { ValkeyClusterStatus } from '@valkey-operator/api';

type Detail = NonNullable<ValkeyClusterStatus['status']>;

const PACE_MS = 2_000;

/**
 * While something is under way every report changes some node in the detail, several times a second. People read no
 * faster than every other second, and each write costs the API server more than all else that a birth asks of it. What
 * the next plan starts from (all but nodes and shards) is written at once, and so is everything when the cluster is at rest.
 */
export class DetailPace {
  /** By cluster: the time of the last write. */
  readonly #writtenAt = new Map<string, number>();

  /** How long to hold a detail back; 0: it is written now. */
  holdMs(key: string, present: Detail | undefined, next: Detail, isAtRest: boolean, now: number): number {
    const left = (this.#writtenAt.get(key) ?? 0) + PACE_MS - now;
    if (left > 0 && !isAtRest && isDeepStrictEqual(essence(present), essence(next))) return left;
    this.#writtenAt.set(key, now);
    return 0;
  }

  forget(key: string): void {
    this.#writtenAt.delete(key);
  }
}

function essence(detail: Detail | undefined): unknown {
  if (detail === undefined) return undefined;
  const { nodes: _nodes, shards: _shards, ...rest } = detail;
  // As the API server has it: a property that is undefined is not there.
  return JSON.parse(JSON.stringify(rest));
}
