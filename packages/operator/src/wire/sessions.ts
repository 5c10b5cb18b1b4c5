import type { OperatorSession } from '@valkey-operator/rpc/operator';
import { type SidecarAddress, SidecarLink, type SidecarLinkOptions } from './sidecar-link.ts';

/** Ample for a handshake on a busy machine; a sidecar that is down holds up its cluster for no longer than this. */
const OPENING_MS = 2_000;

/**
 * Sessions to the sidecars of clusters in which something is under way. Each is kept open until its cluster is at rest; then
 * heartbeats are enough. They belong to one term as leader and end with it.
 */
export class Sessions {
  readonly #options: SidecarLinkOptions;
  /** By the uid of the pod. */
  readonly #links = new Map<string, SidecarLink>();
  #closed = false;

  constructor(options: SidecarLinkOptions) {
    this.#options = options;
  }

  /** How many are held or being opened. */
  get size(): number {
    return this.#links.size;
  }

  /** The session to a pod; one that is just being opened is waited for, though not for long. */
  whenOpen(podUid: string): Promise<OperatorSession | undefined> {
    return this.#links.get(podUid)?.whenOpen(OPENING_MS) ?? Promise.resolve(undefined);
  }

  /** The open session to a pod, if there is one. */
  find(podUid: string): OperatorSession | undefined {
    return this.#links.get(podUid)?.session;
  }

  /** Hold sessions to exactly these sidecars of one cluster. */
  want(namespace: string, cluster: string, sidecars: readonly SidecarAddress[]): void {
    if (this.#closed) return;
    const wanted = new Map(sidecars.map((sidecar) => [sidecar.podUid, sidecar]));
    for (const [uid, link] of this.#links) {
      const { sidecar } = link;
      if (sidecar.namespace !== namespace || sidecar.cluster !== cluster) continue;
      if (wanted.get(uid)?.ip !== sidecar.ip) this.#drop(uid, link);
    }
    for (const sidecar of sidecars) {
      if (!this.#links.has(sidecar.podUid)) this.#links.set(sidecar.podUid, new SidecarLink(sidecar, this.#options));
    }
  }

  /** A pod was heard of by a heartbeat or an event: if a session to it is wanted, now is the time. */
  heardOf(podUid: string): void {
    const link = this.#links.get(podUid);
    if (link && !link.session) link.retryNow();
  }

  /** End all of them for good: this process leads no more. */
  close(): void {
    this.#closed = true;
    for (const [uid, link] of this.#links) this.#drop(uid, link);
  }

  #drop(uid: string, link: SidecarLink): void {
    this.#links.delete(uid);
    link.close();
  }
}
