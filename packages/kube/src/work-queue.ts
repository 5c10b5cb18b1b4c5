import { type BackoffLimits, backoffMs, type Random } from './backoff.ts';
import { type Clock, systemClock } from './clock.ts';
import { isKubeError } from './error.ts';

/** What a run asks for; nothing: it wants to hear of its key again only through `add`. */
export interface Requeue {
  requeueAfterMs?: number | undefined;
}

/** One finished run, for logs and metrics. */
export interface RunRecord {
  key: string;
  waitedMs: number;
  ranMs: number;
  /** In a row, this one included; 0 after success. */
  failures: number;
  error?: unknown;
}

export interface WorkQueueOptions {
  process: (key: string) => Promise<Requeue | void>;
  concurrency: number;
  backoff?: BackoffLimits;
  onRun?: (run: RunRecord) => void;
  clock?: Clock;
  random?: Random;
}

interface Entry {
  running: boolean;
  /** Added while running: what that run read may be old. `anew`: whatever its outcome. */
  again?: 'soon' | 'anew' | undefined;
  failures: number;
  readyAt: number;
  /** The run to come at a later time. */
  delay?: { at: number; cancel: () => void } | undefined;
}

const BACKOFF: BackoffLimits = { baseMs: 250, maxMs: 30_000 };

/**
 * Runs `process` for keys: never twice at once for one key, in order of arrival, some keys at once. Adds coalesce. Since a
 * run reads everything anew, one that starts after an `add` or `addAfter` answers for it. A key is remembered only while
 * it waits or runs.
 */
export class WorkQueue {
  readonly #options: Required<Omit<WorkQueueOptions, 'onRun'>> & Pick<WorkQueueOptions, 'onRun'>;
  readonly #entries = new Map<string, Entry>();
  readonly #ready = new Set<string>();
  readonly #closed = Promise.withResolvers<void>();
  #running = 0;
  #closing = false;

  constructor(options: WorkQueueOptions) {
    this.#options = { backoff: BACKOFF, clock: systemClock, random: Math.random, ...options };
  }

  /** Keys that could run now, if a worker were free. */
  get depth(): number {
    return this.#ready.size;
  }

  get running(): number {
    return this.#running;
  }

  /** Keys known: ready, running or to run later. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * Runs the key soon. After a failure it waits for the back-off all the same: a failing run often causes the very event
   * that adds its key, and would chase itself.
   */
  add(key: string): void {
    const entry = this.#entry(key);
    if (!entry || this.#ready.has(key)) return;
    if (entry.running) entry.again ??= 'soon';
    else if (entry.failures === 0) this.#makeReady(key, entry);
  }

  /** Runs the key soon in spite of failures: something changed that may have been their cause. */
  addAnew(key: string): void {
    const entry = this.#entry(key);
    if (!entry) return;
    if (entry.running) entry.again = 'anew';
    else entry.failures = 0;
    this.add(key);
  }

  /** Runs the key once `ms` have passed, unless a run starts before; of several the earliest counts. */
  addAfter(key: string, ms: number): void {
    const entry = this.#entry(key);
    if (!entry || this.#ready.has(key) || entry.again) return;
    this.#delay(key, entry, ms);
  }

  /** Starts nothing more and resolves when the last run has ended. What waited is dropped: the next leader lists it anew. */
  close(): Promise<void> {
    this.#closing = true;
    this.#ready.clear();
    for (const [key, entry] of this.#entries) {
      this.#cancelDelay(entry);
      if (!entry.running) this.#entries.delete(key);
    }
    if (this.#running === 0) this.#closed.resolve();
    return this.#closed.promise;
  }

  #entry(key: string): Entry | undefined {
    if (this.#closing) return undefined;
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = { running: false, failures: 0, readyAt: 0 };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #makeReady(key: string, entry: Entry): void {
    this.#cancelDelay(entry);
    entry.readyAt = this.#options.clock.monotonic();
    this.#ready.add(key);
    this.#startReady();
  }

  #delay(key: string, entry: Entry, ms: number): void {
    const { clock } = this.#options;
    const at = clock.monotonic() + ms;
    if (entry.delay && entry.delay.at <= at) return;
    entry.delay?.cancel();
    const cancel = clock.schedule(ms, () => {
      entry.delay = undefined;
      if (entry.running) entry.again ??= 'soon';
      else this.#makeReady(key, entry);
    });
    entry.delay = { at, cancel };
  }

  #cancelDelay(entry: Entry): void {
    entry.delay?.cancel();
    entry.delay = undefined;
  }

  #startReady(): void {
    for (const key of this.#ready) {
      if (this.#running >= this.#options.concurrency) return;
      const entry = this.#entries.get(key);
      this.#ready.delete(key);
      if (entry) void this.#run(key, entry);
    }
  }

  async #run(key: string, entry: Entry): Promise<void> {
    const { clock, process, onRun } = this.#options;
    const startedAt = clock.monotonic();
    entry.running = true;
    this.#running += 1;
    let requeueAfterMs: number | undefined;
    let error: unknown;
    try {
      requeueAfterMs = (await process(key))?.requeueAfterMs;
      entry.failures = 0;
    } catch (thrown) {
      error = thrown ?? new Error('a run failed without an error');
      entry.failures += 1;
    }
    const waitedMs = startedAt - entry.readyAt;
    const { failures } = entry;
    this.#finish(key, entry, error === undefined ? requeueAfterMs : this.#backoff(failures, error));
    onRun?.({ key, waitedMs, ranMs: clock.monotonic() - startedAt, failures, error });
  }

  #finish(key: string, entry: Entry, delayMs: number | undefined): void {
    entry.running = false;
    this.#running -= 1;
    if (this.#closing) {
      this.#entries.delete(key);
      if (this.#running === 0) this.#closed.resolve();
      return;
    }
    if (delayMs !== undefined) this.#delay(key, entry, delayMs);
    const { again } = entry;
    entry.again = undefined;
    if (again === 'anew') entry.failures = 0;
    if (again && entry.failures === 0) this.#makeReady(key, entry);
    else if (!entry.delay) this.#entries.delete(key);
    this.#startReady();
  }

  #backoff(failures: number, error: unknown): number {
    const { backoff, random } = this.#options;
    const asked = isKubeError(error) ? (error.retryAfterMs ?? 0) : 0;
    return asked + backoffMs(failures, backoff, random);
  }
}
