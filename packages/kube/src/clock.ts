/** Time as this package sees it; injected so that tests decide when it passes. */
export interface Clock {
  /** Wall time in milliseconds, only for stamps that others read: it may jump. */
  now(): number;
  /** Milliseconds that never jump: every age and deadline is measured with these. */
  monotonic(): number;
  /** Calls `fire` once after `ms`; the returned function cancels it. */
  schedule(ms: number, fire: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(ms, fire) {
    const timer = setTimeout(fire, ms);
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or as soon as the signal aborts: the caller looks at the signal, there is nothing to catch. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = (): void => {
      cancel();
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = clock.schedule(ms, wake);
    signal.addEventListener('abort', wake);
  });
}
