import type { NodeAction } from '@valkey-operator/core';

/** A command that was refused a moment ago, under the very same guard, and is not sent again yet. */
export class CommandHeld extends Error {
  override readonly name = 'CommandHeld';
}

const FIRST_MS = 250;
const LAST_MS = 10_000;
/** Commands that are not asked for any more are forgotten when there are this many. */
const MAX_REMEMBERED = 1000;

/**
 * Slows down commands that were refused or failed. The same command under the same guard comes from the same view of the
 * cluster, so the same answer is to be expected; whatever changes that view changes the guard, and is free to try at once.
 */
export class CommandPace {
  readonly #now: () => number;
  /** The longest untried first. */
  readonly #refused = new Map<string, { waitMs: number; until: number }>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  check(action: NodeAction): void {
    const known = this.#refused.get(keyOf(action));
    if (known && known.until > this.#now())
      throw new CommandHeld(
        `${action.pod} refused this a moment ago; the next try is in ${known.until - this.#now()} ms`,
      );
  }

  slowDown(action: NodeAction): void {
    const key = keyOf(action);
    const waitMs = Math.min((this.#refused.get(key)?.waitMs ?? FIRST_MS / 2) * 2, LAST_MS);
    this.#refused.delete(key);
    this.#refused.set(key, { waitMs, until: this.#now() + waitMs });
    const [oldest] = this.#refused.keys();
    if (this.#refused.size > MAX_REMEMBERED && oldest !== undefined) this.#refused.delete(oldest);
  }

  forget(action: NodeAction): void {
    this.#refused.delete(keyOf(action));
  }
}

function keyOf({ guard, command }: NodeAction): string {
  return JSON.stringify([guard, command]);
}
