import { annotations } from '@valkey-operator/api';
import type { ChildObject, RefusalView } from '@valkey-operator/core';

/**
 * What the API server refused the last time it was written, by cluster and child. It keeps what will be refused again from
 * holding up the rest, so it may be lost with the process: one more refused write tells it anew.
 */
export class RefusalBook {
  readonly #clusters = new Map<string, Map<string, RefusalView>>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  note(cluster: string, object: ChildObject, message: string): void {
    const child = nameOf(object);
    const wish = object.metadata.annotations?.[annotations.applied] ?? '';
    const refusals = this.#clusters.get(cluster) ?? new Map<string, RefusalView>();
    this.#clusters.set(cluster, refusals.set(child, { child, wish, message, lastAt: this.#now() }));
  }

  /** It was taken. */
  clear(cluster: string, object: ChildObject): void {
    const refusals = this.#clusters.get(cluster);
    if (refusals?.delete(nameOf(object)) && refusals.size === 0) this.#clusters.delete(cluster);
  }

  view(cluster: string): RefusalView[] {
    return [...(this.#clusters.get(cluster)?.values() ?? [])];
  }

  forget(cluster: string): void {
    this.#clusters.delete(cluster);
  }
}

function nameOf({ kind, metadata }: ChildObject): string {
  return `${kind} ${metadata.name}`;
}
