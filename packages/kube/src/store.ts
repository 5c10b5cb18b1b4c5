import { formatKey, keyOf, type KubeObject, type Live, type ObjectRef } from './object.ts';

export type Change<T extends KubeObject> =
  | { type: 'added'; object: Live<T> }
  | { type: 'modified'; object: Live<T>; previous: Live<T> }
  | { type: 'deleted'; object: Live<T> };

/** The values under which an object is found in an index. */
export type Indexer<T extends KubeObject> = (object: Live<T>) => string[];

/**
 * The last known state of a kind. Writers get back what really changed: an object that was deleted and made again under its
 * name is two changes, told by the uid, however the news of it came.
 */
export class Store<T extends KubeObject, I extends string = never> {
  readonly #objects = new Map<string, Live<T>>();
  readonly #indexers: [I, Indexer<T>][];
  readonly #indexes = new Map<I, Map<string, Set<string>>>();

  constructor(indexers: Record<I, Indexer<T>>) {
    this.#indexers = Object.entries(indexers) as [I, Indexer<T>][];
    for (const [name] of this.#indexers) this.#indexes.set(name, new Map());
  }

  get size(): number {
    return this.#objects.size;
  }

  get(ref: ObjectRef): Live<T> | undefined {
    return this.#objects.get(formatKey(ref));
  }

  list(namespace?: string): Live<T>[] {
    const all = [...this.#objects.values()];
    return namespace === undefined ? all : all.filter((object) => object.metadata.namespace === namespace);
  }

  byIndex(index: I, value: string): Live<T>[] {
    const keys = this.#indexes.get(index)?.get(value) ?? [];
    return [...keys].flatMap((key) => this.#objects.get(key) ?? []);
  }

  put(object: Live<T>): Change<T>[] {
    const key = keyOf(object);
    const previous = this.#objects.get(key);
    if (previous?.metadata.uid === object.metadata.uid) {
      if (previous.metadata.resourceVersion === object.metadata.resourceVersion) return [];
      this.#set(key, object);
      return [{ type: 'modified', object, previous }];
    }
    this.#set(key, object);
    const added: Change<T> = { type: 'added', object };
    return previous ? [{ type: 'deleted', object: previous }, added] : [added];
  }

  /** `object` is its last state. News of an older namesake's end changes nothing. */
  remove(object: Live<T>): Change<T>[] {
    const key = keyOf(object);
    if (this.#objects.get(key)?.metadata.uid !== object.metadata.uid) return [];
    this.#unset(key);
    return [{ type: 'deleted', object }];
  }

  /** Makes `objects` all there is, in one namespace or everywhere. */
  replace(objects: Iterable<Live<T>>, namespace?: string): Change<T>[] {
    const present = new Map<string, Live<T>>();
    for (const object of objects) present.set(keyOf(object), object);
    const gone = this.list(namespace).filter((object) => !present.has(keyOf(object)));
    return [
      ...gone.flatMap((object) => this.remove(object)),
      ...[...present.values()].flatMap((object) => this.put(object)),
    ];
  }

  #set(key: string, object: Live<T>): void {
    this.#unset(key);
    this.#objects.set(key, object);
    for (const [name, indexer] of this.#indexers) {
      const index = this.#indexes.get(name);
      for (const value of indexer(object)) {
        const keys = index?.get(value);
        if (keys) keys.add(key);
        else index?.set(value, new Set([key]));
      }
    }
  }

  #unset(key: string): void {
    const object = this.#objects.get(key);
    if (!object) return;
    this.#objects.delete(key);
    for (const [name, indexer] of this.#indexers) {
      const index = this.#indexes.get(name);
      for (const value of indexer(object)) {
        const keys = index?.get(value);
        keys?.delete(key);
        if (keys?.size === 0) index?.delete(value);
      }
    }
  }
}
