/**
 * The longest time without an acknowledged write, in the phases of a run: before a fault it is the noise floor, after it
 * the outage. A gap counts for the phase in which it ends, or in which the run ends without one.
 */
export class GapMeter {
  readonly #longest: number[] = [0];
  #last: number;

  constructor(now: number) {
    this.#last = now;
  }

  /** A write was acknowledged. */
  tick(now: number): void {
    this.#longest.push(Math.max(this.#longest.pop() ?? 0, now - this.#last));
    this.#last = now;
  }

  startPhase(): void {
    this.#longest.push(0);
  }

  /** The longest gap of each phase, if the run ended now. */
  read(now: number): number[] {
    return [...this.#longest.slice(0, -1), Math.max(this.#longest.at(-1) ?? 0, now - this.#last)];
  }
}
