/**
 * `key:` with nothing behind it is null in YAML. No field of ours is nullable, so the API server drops it, and so do we,
 * as we do with the undefined that JSON has no word for.
 */
export function pruneNulls<T>(value: T): T;
export function pruneNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => pruneNulls(item));
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value).filter(([, child]) => child !== null && child !== undefined);
  return Object.fromEntries(kept.map(([key, child]) => [key, pruneNulls<unknown>(child)]));
}
