import type { Clock } from './clock.ts';

/** A roll tells of every pod, and of a hundred within minutes. */
const BURST = 100;
const REFILL_MS = 10_000;
const MAX_ACCOUNTS = 16_384;

/**
 * How many different events an object may still have for a reason: 100 at once, then one every ten seconds. A message with a
 * changing number in it would else be a flood that no comparison of messages stops; others are told beside it.
 */
export class EventBudget {
  readonly #clock: Clock;
  readonly #accounts = new Map<string, { left: number; at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  spend(uid: string, reason: string): boolean {
    const account = `${uid} ${reason}`;
    const now = this.#clock.monotonic();
    const { left, at } = this.#accounts.get(account) ?? { left: BURST, at: now };
    const available = Math.min(BURST, left + (now - at) / REFILL_MS);
    const granted = available >= 1;
    this.#accounts.delete(account);
    this.#accounts.set(account, { left: granted ? available - 1 : available, at: now });
    const [oldest] = this.#accounts.keys();
    if (this.#accounts.size > MAX_ACCOUNTS && oldest !== undefined) this.#accounts.delete(oldest);
    return granted;
  }
}
