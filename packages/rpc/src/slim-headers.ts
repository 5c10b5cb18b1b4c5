/**
 * For a process that has no other use for fetch: connect keeps metadata in the Headers of the fetch standard, and those of Node
 * come with all of fetch. That is 4 MiB in each pod, and a third of the time until a sidecar can be heard. To be called before
 * the first call or answer.
 */
export function useSlimHeaders(): void {
  globalThis.Headers = SlimHeaders as typeof Headers;
}

/** A map that ignores case, which is all that gRPC needs of them. A cookie is a header like any other. */
export class SlimHeaders implements Headers {
  readonly #values = new Map<string, string>();

  constructor(init: Iterable<readonly [string, string]> | Readonly<Record<string, string>> = []) {
    const pairs = Symbol.iterator in init ? init : Object.entries(init);
    for (const [name, value] of pairs) this.append(name, value);
  }

  append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  getSetCookie(): string[] {
    const cookie = this.get('set-cookie');
    return cookie === null ? [] : [cookie];
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), value.trim());
  }

  forEach(callback: (value: string, name: string, headers: Headers) => void): void {
    for (const [name, value] of this.#values) callback(value, name, this);
  }

  entries() {
    return this.#values.entries();
  }

  keys() {
    return this.#values.keys();
  }

  values() {
    return this.#values.values();
  }

  [Symbol.iterator]() {
    return this.entries();
  }
}
