import { setTimeout as sleep } from 'node:timers/promises';
import { TargetSilent } from './move.ts';

const FIRST_BATCH = 100;
const SMALLEST_BATCH = 5;
const LARGEST_BATCH = 1000;
/** Clients wait while a batch of keys moves. So long may it take, as measured from the queue's end to the answer. */
const GOAL_MS = 10;
const LONGEST_PAUSE_MS = 500;

/**
 * How many keys move at once, and how soon the next: a batch that took too long, because keys are large or clients many,
 * is followed by a pause of what it took too long and by smaller ones. One at a time: Valkey does nothing else meanwhile. None after one
 * that the target has not answered to: Valkey would wait for each.
 */
export class Pace {
  #batchSize = FIRST_BATCH;
  #lane: Promise<unknown> = Promise.resolve();
  #silence: TargetSilent | undefined;

  get batchSize(): number {
    return this.#batchSize;
  }

  run(move: () => Promise<void>): Promise<void> {
    const turn = this.#lane.then(() => {
      if (this.#silence) throw this.#silence;
      return this.#measure(move);
    });
    this.#lane = turn.catch((error: unknown) => {
      if (error instanceof TargetSilent) this.#silence = error;
    });
    return turn;
  }

  async #measure(move: () => Promise<void>): Promise<void> {
    const startedAt = performance.now();
    await move();
    const excess = performance.now() - startedAt - GOAL_MS;
    if (excess > 0) {
      this.#batchSize = Math.max(SMALLEST_BATCH, Math.floor(this.#batchSize / 2));
      await sleep(Math.min(LONGEST_PAUSE_MS, excess));
    } else if (excess < -GOAL_MS / 2) {
      this.#batchSize = Math.min(LARGEST_BATCH, Math.ceil(this.#batchSize * 1.25));
    }
  }
}
