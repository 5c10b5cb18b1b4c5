/** So long that two ranges must not pause one after the other, and that it may be for the size of the keys. */
export const VERY_LONG_MS = 300;
/** Of fewer keys the pause is not for their number, unless it is very long: then they are large. */
const FEW_KEYS = 4000;
const SMALLEST_RANGE = 1000;

/**
 * How many keys the next range may have, given the pause that so many have caused: less by as much as it was too long.
 * Halving them instead would make more ranges than need be, and each costs about as much as some thousand keys.
 */
export function nextBound(keys: number, pausedMs: number, longestMs: number): number {
  if (pausedMs < longestMs / 2) return keys * 2;
  if (pausedMs <= longestMs) return keys;
  const smallest = pausedMs > VERY_LONG_MS ? SMALLEST_RANGE : FEW_KEYS;
  return Math.min(keys, Math.max(smallest, Math.ceil((keys * longestMs) / pausedMs)));
}
