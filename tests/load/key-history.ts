/** How sure the client may be that a write is kept: acknowledged by the primary alone, or by as many replicas as it asked for. */
export type Assurance = 'plain' | 'waited';

/** Writes that were acknowledged and then found missing. */
export interface Loss {
  readonly plain: number;
  readonly waited: number;
}

const NONE: Loss = { plain: 0, waited: 0 };

/**
 * What one key must hold. It has one writer, which writes 1, 2, 3, ... one after the other and sees with each write what
 * was there before, so that every acknowledged write is checked by the next one and the last by the final read: data that
 * was lost and written over is found as well.
 *
 * A write with an unknown outcome ends the key: it may still be carried out at any time, also after a later one, and then
 * no value could be called wrong any more.
 */
export class KeyHistory {
  /** The assurance of write n is at n - 1. */
  readonly #acknowledged: Assurance[] = [];
  /** Lost writes are counted once: what is there now is where the key goes on from. */
  #present = 0;
  #uncertain = false;

  get next(): number {
    return this.#acknowledged.length + 1;
  }

  /** Whether another write may follow. */
  get open(): boolean {
    return !this.#uncertain;
  }

  /** The next write was carried out, over the value of write `before` (0: over nothing). */
  acknowledge(before: number, assurance: Assurance): Loss {
    const loss = this.observe(before);
    this.#acknowledged.push(assurance);
    this.#present = this.#acknowledged.length;
    return loss;
  }

  /** Nobody knows whether the next write was carried out, or will be. */
  leaveUncertain(): void {
    this.#uncertain = true;
  }

  /** The key holds the value of write `sequence`, 0 when it does not exist. */
  observe(sequence: number): Loss {
    if (sequence === this.next && this.#uncertain) return NONE;
    if (!Number.isInteger(sequence) || sequence < 0 || sequence > this.#acknowledged.length)
      throw new RangeError(`write ${sequence} was never made: ${this.#acknowledged.length} were acknowledged`);
    const lost = this.#acknowledged.slice(sequence, this.#present);
    this.#present = sequence;
    const waited = lost.filter((assurance) => assurance === 'waited').length;
    return { waited, plain: lost.length - waited };
  }
}
