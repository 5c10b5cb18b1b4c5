import { judgeReadiness } from './readiness.ts';
import type { ValkeyFacts } from './valkey-facts.ts';
import type { ProcessView } from './valkey-watch.ts';

const CLOSE_MS = 200;
const SLOW_MS = 2000;
/** So long after the last change things are watched as closely as when it happened. */
const FRESH_MS = 3000;

/**
 * How soon to look at Valkey again. Somebody who watches (a session) wants to see changes at once; a node that is not yet
 * where it should be is looked at less and less often; one that is ready is left alone until a probe or the operator asks.
 */
export function nextLookMs(
  view: ProcessView,
  facts: ValkeyFacts | undefined,
  unchangedMs: number,
  isWatched: boolean,
): number | undefined {
  if (isWatched || unchangedMs < FRESH_MS) return CLOSE_MS;
  if (judgeReadiness(view, facts).ok) return undefined;
  return Math.min(SLOW_MS, Math.max(CLOSE_MS, unchangedMs / 20));
}
