/** A number in [0, 1), as Math.random gives it. */
export type Random = () => number;

export interface BackoffLimits {
  baseMs: number;
  maxMs: number;
}

/**
 * Exponential back-off with full jitter: anywhere between 0 and the ceiling, so that many waiters spread out instead of
 * coming back together. `failures` counts from 1.
 */
export function backoffMs(failures: number, limits: BackoffLimits, random: Random): number {
  const ceiling = Math.min(limits.maxMs, limits.baseMs * 2 ** Math.min(failures - 1, 52));
  return ceiling * random();
}
