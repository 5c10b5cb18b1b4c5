import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './connection.ts';

export interface KeepConnectedOptions {
  readonly connect: (signal: AbortSignal) => Promise<Connection>;
  /** Milliseconds to wait before the next attempt, after so many failures in a row. */
  readonly backOff: (failures: number) => number;
  readonly onUp?: (connection: Connection) => void;
  /** A connection ended, or an attempt failed. */
  readonly onDown?: (reason: unknown) => void;
}

/** A connection that is made again whenever it ends. There is no queue: without a connection there is none to call. */
export interface KeptConnection {
  readonly current: Connection | undefined;
  close(): void;
}

export function keepConnected(options: KeepConnectedOptions): KeptConnection {
  const stop = new AbortController();
  let current: Connection | undefined;

  async function run(): Promise<void> {
    for (let failures = 0; !stop.signal.aborted; failures += 1) {
      try {
        current = await options.connect(stop.signal);
        failures = 0;
        stop.signal.throwIfAborted();
        options.onUp?.(current);
        const reason = await current.ended;
        options.onDown?.(reason);
      } catch (error) {
        options.onDown?.(error);
      }
      current?.close();
      current = undefined;
      await sleep(options.backOff(failures), undefined, { signal: stop.signal }).catch(() => undefined);
    }
  }

  void run();
  return {
    get current() {
      return current;
    },
    close() {
      stop.abort();
      current?.close();
    },
  };
}

/** Doubles from `minMs` to `maxMs`, and takes a random part of the upper half so that nodes do not come back in step. */
export function exponentialBackOff(minMs: number, maxMs: number, random: () => number): (failures: number) => number {
  return (failures) => {
    const full = Math.min(maxMs, minMs * 2 ** failures);
    return full / 2 + (random() * full) / 2;
  };
}
