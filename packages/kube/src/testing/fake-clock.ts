import type { Clock } from '../clock.ts';

interface Timer {
  at: number;
  fire: () => void;
}

/** Lets everything run that waits for nothing but other code. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A clock that passes only when told to. Clocks of several processes may start at different wall times. */
export class FakeClock implements Clock {
  readonly #timers = new Set<Timer>();
  readonly #startedAt: number;
  #elapsed = 0;

  constructor(startedAt = Date.UTC(2026, 10, 15)) {
    this.#startedAt = startedAt;
  }

  now(): number {
    return this.#startedAt + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  schedule(ms: number, fire: () => void): () => void {
    const timer = { at: this.#elapsed + ms, fire };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Passes `ms`; timers fire in order, and what each sets off runs before the next. */
  async advance(ms: number): Promise<void> {
    const until = this.#elapsed + ms;
    await settle();
    for (let timer = this.#nextBefore(until); timer; timer = this.#nextBefore(until)) {
      this.#elapsed = Math.max(this.#elapsed, timer.at);
      this.#timers.delete(timer);
      timer.fire();
      await settle();
    }
    this.#elapsed = until;
  }

  /** Passes `ms` while the process stands still, as under SIGSTOP: overdue timers fire with the next `advance`. */
  freeze(ms: number): void {
    this.#elapsed += ms;
  }

  #nextBefore(until: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= until && (!next || timer.at < next.at)) next = timer;
    }
    return next;
  }
}
