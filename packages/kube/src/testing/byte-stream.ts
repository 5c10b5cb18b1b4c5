/** A response body that a test feeds as it goes. */
export class ByteStream implements AsyncIterable<Uint8Array> {
  readonly #chunks: Uint8Array[] = [];
  #wake = Promise.withResolvers<void>();
  #ended = false;
  #failure: { error: unknown } | undefined;

  push(text: string): void {
    this.#chunks.push(Buffer.from(text));
    this.#wake.resolve();
  }

  end(): void {
    this.#ended = true;
    this.#wake.resolve();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.#wake.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        yield chunk;
        continue;
      }
      if (this.#failure) throw this.#failure.error;
      if (this.#ended) return;
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
  }
}
