/** When to call the operator again, as the answer to a heartbeat says it. */
export interface HeartbeatAnswer {
  /** Undefined: the usual interval. */
  readonly nextMs: number | undefined;
}

export interface HeartbeatOptions {
  readonly send: () => Promise<HeartbeatAnswer>;
  readonly onFailure: (error: unknown) => void;
  readonly random?: () => number;
}

export const INTERVAL_MS = 60_000;
const JITTER = 0.1;
const FIRST_RETRY_MS = 1000;

/** So that the sidecars of a thousand clusters do not call in step after the operator has been away. */
export function heartbeatDelayMs(failures: number, answer: HeartbeatAnswer | undefined, random: number): number {
  const base =
    failures > 0 ? Math.min(INTERVAL_MS, FIRST_RETRY_MS * 2 ** (failures - 1)) : (answer?.nextMs ?? INTERVAL_MS);
  return base * (1 - JITTER + 2 * JITTER * random);
}

/** Calls the operator at once, and then once a minute; the returned function ends it. */
export function startHeartbeat({ send, onFailure, random = Math.random }: HeartbeatOptions): () => void {
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let stopped = false;

  async function beat(): Promise<void> {
    let answer: HeartbeatAnswer | undefined;
    try {
      answer = await send();
      failures = 0;
    } catch (error) {
      failures += 1;
      onFailure(error);
    }
    if (!stopped) timer = setTimeout(() => void beat(), heartbeatDelayMs(failures, answer, random()));
  }

  void beat();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
