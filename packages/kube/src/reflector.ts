import { backoffMs, type Random } from './backoff.ts';
import type { KubeClient } from './client.ts';
import { type Clock, sleep } from './clock.ts';
import { isKubeError, KubeError } from './error.ts';
import type { KubeObject, Live } from './object.ts';
import type { Resource } from './resource.ts';
import type { WatchEvent } from './watch-event.ts';

/** Receives what the reflector learns, in the server's order. None of them may throw. */
export interface Mirror<T extends KubeObject> {
  replace(objects: Live<T>[]): void;
  put(object: Live<T>): void;
  remove(object: Live<T>): void;
  /** A list or watch failed; the reflector goes on. */
  report(error: unknown): void;
}

export interface ReflectorOptions<T extends KubeObject> {
  client: KubeClient;
  resource: Resource<T>;
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  mirror: Mirror<T>;
  /** Applied to each object as it arrives, to keep less of it in memory. */
  transform: (object: Live<T>) => Live<T>;
  clock: Clock;
  random: Random;
}

/**
 * The server is asked to end each watch after 30 to 40 s, so one that has not ended 5 s later is dead, however alive its
 * connection looks: 45 s, and a relist over a fresh connection, stay within the 60 s of faults.md 3. Bookmarks cannot serve
 * for this, they come a minute apart. Starting the next watch costs the server next to nothing; it goes on where this one ended.
 */
const WATCH_SECONDS = 40;
const WATCH_GRACE_MS = 5_000;

/** The backstop against anything lost without a trace (faults.md 22), or an etcd set back to a backup. */
const RELIST_MS = 30 * 60_000;

/** A watch that ends sooner and brought nothing counts as failed, or a sick server would be asked in a tight loop. */
const SHORTEST_WATCH_MS = 1_000;

const BACKOFF = { baseMs: 500, maxMs: 15_000 };

/** Keeps a mirror of one collection by list and watch, until its signal aborts. */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  /** Where to watch from; undefined: list first. */
  #resourceVersion: string | undefined;
  #listedAt = -Infinity;
  #heardAt: number;
  #failures = 0;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#heardAt = options.clock.monotonic();
  }

  /** Milliseconds since the server last said anything; a healthy reflector stays below 45 s. */
  lastEventAge(): number {
    return this.#options.clock.monotonic() - this.#heardAt;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, mirror } = this.#options;
    while (!signal.aborted) {
      try {
        if (this.#isListDue()) await this.#list(signal);
        await this.#watch(signal);
      } catch (error) {
        if (signal.aborted) return;
        if (isKubeError(error, 'Expired', 'BadResponse')) this.#resourceVersion = undefined;
        this.#failures += 1;
        mirror.report(error);
        const retryAfterMs = isKubeError(error) ? (error.retryAfterMs ?? 0) : 0;
        await sleep(clock, retryAfterMs + backoffMs(this.#failures, BACKOFF, random), signal);
      }
    }
  }

  #isListDue(): boolean {
    return this.#resourceVersion === undefined || this.#options.clock.monotonic() - this.#listedAt > RELIST_MS;
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { client, resource, namespace, labelSelector, fieldSelector, transform, mirror, clock } = this.#options;
    const objects: Live<T>[] = [];
    let resourceVersion: string | undefined;
    // No resourceVersion in the request: the answer is never older than what this process has seen already.
    for await (const page of client.listPages(resource, { namespace, labelSelector, fieldSelector, signal })) {
      for (const object of page.items) objects.push(transform(object));
      resourceVersion = page.metadata.resourceVersion;
      this.#heardAt = clock.monotonic();
    }
    mirror.replace(objects);
    this.#resourceVersion = resourceVersion;
    this.#listedAt = clock.monotonic();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { client, resource, namespace, labelSelector, fieldSelector, clock, random } = this.#options;
    const timeoutSeconds = Math.round(WATCH_SECONDS * (0.75 + 0.25 * random()));
    const watching = new AbortController();
    const stop = (): void => watching.abort(signal.reason);
    signal.addEventListener('abort', stop);
    const cancelGuard = clock.schedule(timeoutSeconds * 1000 + WATCH_GRACE_MS, () => {
      watching.abort(new KubeError('Expired', `the watch of ${resource.plural} went silent`));
    });
    const startedAt = clock.monotonic();
    let heardAnything = false;
    try {
      const scope = { namespace, labelSelector, fieldSelector, resourceVersion: this.#resourceVersion ?? '' };
      for await (const event of client.watch(resource, { ...scope, timeoutSeconds, signal: watching.signal })) {
        this.#accept(event);
        heardAnything = true;
      }
    } finally {
      cancelGuard();
      signal.removeEventListener('abort', stop);
    }
    if (!heardAnything && clock.monotonic() - startedAt < SHORTEST_WATCH_MS) {
      throw new KubeError('Unreachable', `the watch of ${resource.plural} ended at once`);
    }
    this.#heard();
  }

  #accept(event: WatchEvent<T>): void {
    const { mirror, transform } = this.#options;
    this.#heard();
    if (event.type === 'BOOKMARK') {
      this.#resourceVersion = event.resourceVersion;
      return;
    }
    this.#resourceVersion = event.object.metadata.resourceVersion;
    const object = transform(event.object);
    if (event.type === 'DELETED') mirror.remove(object);
    else mirror.put(object);
  }

  /** Only a watch that works ends a row of failures: lists that succeed and watches that do not are the costliest loop. */
  #heard(): void {
    this.#heardAt = this.#options.clock.monotonic();
    this.#failures = 0;
  }
}
