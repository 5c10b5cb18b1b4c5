import type { Clock } from './clock.ts';

/** One term as leader, from taking the lease to losing or releasing it. */
export interface Leadership {
  /**
   * Greater than that of every earlier term, of whatever process. Goes into each command, so that who has seen a later one
   * refuses it: the last defence when this process was frozen between asking `isValid` and acting.
   */
  readonly epoch: number;
  /** Aborts when the term is lost, or is to end: start nothing new. */
  readonly signal: AbortSignal;
  /**
   * Whether it may act. Asks the clock, not a flag: a process that was stopped for a while learns here that its term is
   * over, before any timer fires. Stays true while an ordered end waits for work under way.
   */
  isValid(): boolean;
}

/** The holder's side of a term: valid for `deadlineMs` from the start of the last renewal that succeeded. */
export class Term implements Leadership {
  readonly epoch: number;
  /** Of the lease as this holder last saw it. */
  resourceVersion = '';
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #end = new AbortController();
  #validUntil = -Infinity;
  #isLost = false;
  #cancelTimer = (): void => {};

  constructor(epoch: number, deadlineMs: number, clock: Clock) {
    this.epoch = epoch;
    this.#deadlineMs = deadlineMs;
    this.#clock = clock;
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  isValid(): boolean {
    return !this.#isLost && this.#clock.monotonic() < this.#validUntil;
  }

  /** `startedAt` is from before the request was sent: others count from when they see it, which is later. */
  renew(startedAt: number, resourceVersion: string): void {
    if (this.#isLost) return;
    this.resourceVersion = resourceVersion;
    this.#validUntil = startedAt + this.#deadlineMs;
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.schedule(Math.max(0, this.#validUntil - this.#clock.monotonic()), () =>
      this.lose(),
    );
  }

  /** Asks the work to end while the lease is still held. */
  stop(): void {
    this.#end.abort();
  }

  /** The lease is another's, or may be at any moment. */
  lose(): void {
    this.#isLost = true;
    this.#cancelTimer();
    this.#end.abort();
  }
}
