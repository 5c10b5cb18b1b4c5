import { setTimeout as sleep } from 'node:timers/promises';
import { TargetSilent } from './move.ts';

const FIRST_BATCH = 100;
const SMALLEST_BATCH = 5;
const LARGEST_BATCH = 1000;
/** Clients wait while a batch of keys moves. So long may it take, as measured from the queue's end to the answer. */
const GOAL_MS = 10;
const LONGEST_PAUSE_MS = 500;

const nothing = () => Promise.resolve();
const realTime = { now: () => performance.now(), pause: (ms: number) => sleep(ms) };

/**
 * How many keys move at once, and how soon the next: a batch that took too long, because keys are large or clients many,
 * is followed by a pause of what it took too long and by smaller ones. One at a time: Valkey does nothing else meanwhile. None after one
 * that the target has not answered to: Valkey would wait for each.
 */
export class Pace {
  #batchSize = FIRST_BATCH;
  #lane: Promise<unknown> = Promise.resolve();
  #isUnsafe = false;
  readonly #time: typeof realTime;

  constructor(time = realTime) {
    this.#time = time;
  }

  get batchSize(): number {
    return this.#batchSize;
  }

  /** `makeSafe` belongs to the turn, but not to what clients wait for; after one that failed nothing more moves. */
  run(move: () => Promise<void>, makeSafe = nothing): Promise<void> {
    const turn = this.#lane.then(() => this.#measure(move, makeSafe));
    this.#lane = turn.catch((error: unknown) => {
      if (this.#isUnsafe || error instanceof TargetSilent) throw error;
    });
    this.#lane.catch(nothing);
    return turn;
  }

  async #measure(move: () => Promise<void>, makeSafe: () => Promise<void>): Promise<void> {
    const startedAt = this.#time.now();
    await move();
    const excess = this.#time.now() - startedAt - GOAL_MS;
    await makeSafe().catch((error: unknown) => {
      this.#isUnsafe = true;
      throw error;
    });
    if (excess > 0) {
      this.#batchSize = Math.max(SMALLEST_BATCH, Math.floor(this.#batchSize / 2));
      await this.#time.pause(Math.min(LONGEST_PAUSE_MS, excess));
    } else if (excess < -GOAL_MS / 2) {
      this.#batchSize = Math.min(LARGEST_BATCH, Math.ceil(this.#batchSize * 1.25));
    }
  }
}
