/**
 * For an answer that must not be older than the question: calls that come while a run is under way all share the next one,
 * which begins after each of them. So there are never more than two runs for however many who ask.
 */
export function shareNext<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const start = (): Promise<T> => {
    next = undefined;
    running = run().finally(() => (running = undefined));
    return running;
  };
  return () => (next ??= running?.then(start, start)) ?? start();
}
