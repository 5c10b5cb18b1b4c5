/** `key:` with nothing behind it is null in YAML. No field of ours is nullable, so the API server drops it, and so do we. */
export function pruneNulls<T>(value: T): T;
export function pruneNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => pruneNulls(item));
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value).filter(([, child]) => child !== null);
  return Object.fromEntries(kept.map(([key, child]) => [key, pruneNulls<unknown>(child)]));
}
