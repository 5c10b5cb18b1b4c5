import type { Random } from './backoff.ts';
import type { KubeClient } from './client.ts';
import { type Clock, systemClock } from './clock.ts';
import { dropManagedFields, type KubeObject, type Live, type ObjectRef } from './object.ts';
import { Reflector } from './reflector.ts';
import type { Resource } from './resource.ts';
import { type Change, type Indexer, Store } from './store.ts';

export type ChangeHandler<T extends KubeObject> = (change: Change<T>) => void;

export interface ResourceCacheOptions<T extends KubeObject, I extends string> {
  client: KubeClient;
  resource: Resource<T>;
  /** One watch each; all namespaces with one watch when absent. */
  namespaces?: string[] | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  indexers?: Record<I, Indexer<T>>;
  transform?: (object: Live<T>) => Live<T>;
  /** Failed lists and watches, and what handlers threw. The cache goes on after each. */
  onError?: (error: unknown) => void;
  clock?: Clock;
  random?: Random;
}

/** A kind in memory, kept true by one reflector per namespace. */
export class ResourceCache<T extends KubeObject, I extends string = never> {
  readonly #store: Store<T, I>;
  readonly #reflectors: Reflector<T>[];
  readonly #handlers = new Set<ChangeHandler<T>>();
  readonly #onError: (error: unknown) => void;
  readonly #unlisted = new Set<string | undefined>();
  readonly #synced = Promise.withResolvers<void>();

  constructor(options: ResourceCacheOptions<T, I>) {
    const { namespaces = [undefined], indexers, onError = () => {}, transform = dropManagedFields } = options;
    const { client, resource, labelSelector, fieldSelector, clock = systemClock, random = Math.random } = options;
    this.#store = new Store<T, I>(indexers ?? ({} as Record<I, Indexer<T>>));
    this.#onError = onError;
    this.#reflectors = namespaces.map((namespace) => {
      this.#unlisted.add(namespace);
      const mirror = {
        replace: (objects: Live<T>[]) => this.#replace(objects, namespace),
        put: (object: Live<T>) => this.#tell(this.#store.put(object)),
        remove: (object: Live<T>) => this.#tell(this.#store.remove(object)),
        report: onError,
      };
      const scope = { resource, namespace, labelSelector, fieldSelector };
      return new Reflector<T>({ client, ...scope, mirror, transform, clock, random });
    });
  }

  /** Settles when the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.run(signal)));
  }

  /** Resolves once every namespace has been listed; before that an absent object means nothing. */
  whenSynced(): Promise<void> {
    return this.#synced.promise;
  }

  get hasSynced(): boolean {
    return this.#unlisted.size === 0;
  }

  get size(): number {
    return this.#store.size;
  }

  /** Of the reflector that has been without news for longest. */
  lastEventAge(): number {
    return Math.max(...this.#reflectors.map((reflector) => reflector.lastEventAge()));
  }

  get(ref: ObjectRef): Live<T> | undefined {
    return this.#store.get(ref);
  }

  list(namespace?: string): Live<T>[] {
    return this.#store.list(namespace);
  }

  byIndex(index: I, value: string): Live<T>[] {
    return this.#store.byIndex(index, value);
  }

  /** Tells of every change from now on, after the store has it; the returned function ends that. */
  subscribe(handler: ChangeHandler<T>): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  #replace(objects: Live<T>[], namespace: string | undefined): void {
    const changes = this.#store.replace(objects, namespace);
    this.#unlisted.delete(namespace);
    this.#tell(changes);
    if (this.hasSynced) this.#synced.resolve();
  }

  #tell(changes: Change<T>[]): void {
    for (const change of changes) {
      for (const handler of this.#handlers) {
        try {
          handler(change);
        } catch (error) {
          this.#onError(error);
        }
      }
    }
  }
}
