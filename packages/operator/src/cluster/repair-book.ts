import type { RepairView } from '@valkey-operator/core';

/** A child that was left alone for so long is nobody's quarrel any more. */
const FORGET_MS = 15 * 60_000;

/**
 * How often each child of a cluster was put back of late. It only sets the pace of repairs, so it may be lost with the
 * process: a quarrel is noticed anew after a few writes.
 */
export class RepairBook {
  readonly #clusters = new Map<string, Map<string, RepairView>>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  note(cluster: string, child: string): void {
    const repairs = this.#recent(cluster);
    repairs.set(child, { child, count: (repairs.get(child)?.count ?? 0) + 1, lastAt: this.#now() });
    this.#clusters.set(cluster, repairs);
  }

  view(cluster: string): RepairView[] {
    return [...this.#recent(cluster).values()];
  }

  forget(cluster: string): void {
    this.#clusters.delete(cluster);
  }

  #recent(cluster: string): Map<string, RepairView> {
    const repairs = [...(this.#clusters.get(cluster) ?? [])];
    return new Map(repairs.filter(([, { lastAt }]) => this.#now() - lastAt < FORGET_MS));
  }
}
