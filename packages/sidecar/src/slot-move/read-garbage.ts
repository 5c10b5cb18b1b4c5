/** To collect it takes some milliseconds. */
const WORTH_COLLECTING_BYTES = 8 * 1024 * 1024;

/** Node lets 64 MiB of buffers gather before it frees any, which is half of the memory that a sidecar may have. */
export class ReadGarbage {
  readonly #collect: () => void;
  #bytes = 0;

  /** There with --expose-gc, which our image says. */
  constructor(collect: () => void = () => globalThis.gc?.()) {
    this.#collect = collect;
  }

  /** So much was read that is not needed any more, or soon will not be. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < WORTH_COLLECTING_BYTES) return;
    this.#bytes = 0;
    this.#collect();
  }
}
