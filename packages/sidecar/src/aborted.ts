/** Resolves when the signal is given; never rejects. */
export function aborted(signal: AbortSignal): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  if (signal.aborted) resolve(undefined);
  signal.addEventListener('abort', () => resolve(undefined), { once: true });
  return promise;
}
