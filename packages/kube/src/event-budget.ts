import type { Clock } from './clock.ts';

const BURST = 25;
const REFILL_MS = 60_000;
const MAX_OBJECTS = 4_096;

/**
 * How many different events an object may still have: 25 at once, then one a minute. A message with a changing number in it
 * would else be a flood that no comparison of messages stops.
 */
export class EventBudget {
  readonly #clock: Clock;
  readonly #objects = new Map<string, { left: number; at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  spend(uid: string): boolean {
    const now = this.#clock.monotonic();
    const { left, at } = this.#objects.get(uid) ?? { left: BURST, at: now };
    const available = Math.min(BURST, left + (now - at) / REFILL_MS);
    const granted = available >= 1;
    this.#objects.delete(uid);
    this.#objects.set(uid, { left: granted ? available - 1 : available, at: now });
    const [oldest] = this.#objects.keys();
    if (this.#objects.size > MAX_OBJECTS && oldest !== undefined) this.#objects.delete(oldest);
    return granted;
  }
}
