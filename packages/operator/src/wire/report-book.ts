import type { NodeView } from '@valkey-operator/core';
import type { NodeReport } from '@valkey-operator/rpc';
import { toNodeView } from './node-view.ts';

interface Page {
  report: NodeReport;
  receivedAt: number;
  /** Runs of the sidecar that a later run has followed: whatever still arrives of them is old. */
  formerBoots: ReadonlySet<string>;
}

/**
 * What each sidecar said last, by the uid of its pod. Of two reports the newer one counts, whichever way and order they
 * arrive in: heartbeats, events and sessions overlap.
 */
export class ReportBook {
  readonly #pages = new Map<string, Page>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  get size(): number {
    return this.#pages.size;
  }

  /** Whether it told anything new. */
  receive(report: NodeReport): boolean {
    const uid = report.pod?.uid;
    if (!uid) return false;
    const known = this.#pages.get(uid);
    if (known && isOlder(report, known)) return false;
    this.#pages.set(uid, { report, receivedAt: this.#now(), formerBoots: bootsBefore(report, known) });
    return true;
  }

  view(podUid: string, live: boolean): NodeView | undefined {
    const page = this.#pages.get(podUid);
    return page && toNodeView(page.report, page.receivedAt, live);
  }

  /** The address a pod has by its own account; it knows it sooner than the API server. */
  addressOf(podUid: string): string | undefined {
    return this.#pages.get(podUid)?.report.pod?.ip || undefined;
  }

  /** Forget all pods of a cluster but these. A late report of a pod that is gone comes in after its deletion, and goes here. */
  retain(namespace: string, cluster: string, podUids: ReadonlySet<string>): void {
    for (const [uid, { report }] of this.#pages) {
      const isOfCluster = report.pod?.namespace === namespace && report.pod.cluster === cluster;
      if (isOfCluster && !podUids.has(uid)) this.#pages.delete(uid);
    }
  }
}

/** Within one run of a sidecar the sequence decides; between runs only their order does, for clocks can be set back. */
function isOlder(report: NodeReport, { report: known, formerBoots }: Page): boolean {
  if (formerBoots.has(report.bootId)) return true;
  return report.bootId === known.bootId && report.sequence <= known.sequence;
}

function bootsBefore({ bootId }: NodeReport, known: Page | undefined): ReadonlySet<string> {
  if (!known) return new Set();
  return known.report.bootId === bootId ? known.formerBoots : new Set([...known.formerBoots, known.report.bootId]);
}
