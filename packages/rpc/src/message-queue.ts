/** Messages pushed at one end and iterated, once, at the other: the outgoing side of a stream. */
export class MessageQueue<T> implements AsyncIterable<T> {
  #waiting: T[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake: (() => void) | undefined;

  /** Messages for which `supersedes` is true and that nobody has taken yet are dropped in favour of this one. */
  push(message: T, supersedes?: (waiting: T) => boolean): void {
    if (this.#end) return;
    if (supersedes) this.#waiting = this.#waiting.filter((waiting) => !supersedes(waiting));
    this.#waiting.push(message);
    this.#wake?.();
  }

  /** What was pushed before is still delivered. */
  close(): void {
    this.#end ??= {};
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (;;) {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) yield next;
      if (this.#end) break;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    if ('error' in this.#end) throw this.#end.error;
  }
}
