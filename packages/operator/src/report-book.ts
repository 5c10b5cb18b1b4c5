import type { NodeView } from '@valkey-operator/core';
import type { NodeReport } from '@valkey-operator/rpc';
import { toNodeView } from './node-view.ts';

interface Page {
  report: NodeReport;
  receivedAt: number;
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

  /** Whether it told anything new. */
  receive(report: NodeReport): boolean {
    const uid = report.pod?.uid;
    if (!uid) return false;
    const known = this.#pages.get(uid)?.report;
    const isOlder = known?.bootId === report.bootId && known.sequence >= report.sequence;
    if (isOlder) return false;
    this.#pages.set(uid, { report, receivedAt: this.#now() });
    return true;
  }

  view(podUid: string, live: boolean): NodeView | undefined {
    const page = this.#pages.get(podUid);
    return page && toNodeView(page.report, page.receivedAt, live);
  }

  forget(podUid: string): void {
    this.#pages.delete(podUid);
  }
}
