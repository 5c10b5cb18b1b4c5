import { ports } from '@valkey-operator/api';
import { CONTRACT_REVISION, type NodeReport } from '@valkey-operator/rpc';
import {
  connectToSidecar,
  type CredentialSource,
  findStaleLeader,
  type OnPeerRefused,
  openSession,
  type OperatorSession,
} from '@valkey-operator/rpc/operator';
import type { Logger } from '../log.ts';

/** Where a sidecar is and whose it must be. */
export interface SidecarAddress {
  namespace: string;
  cluster: string;
  pod: string;
  podUid: string;
  ip: string;
}

export interface SidecarLinkOptions {
  credentials: CredentialSource;
  trustDomain: string;
  leaderEpoch: bigint;
  operatorVersion: string;
  /** Where sidecars listen. */
  port?: number;
  onReport: (report: NodeReport, sidecar: SidecarAddress) => void;
  /** The session opened or ended: the view of its cluster is another one now. */
  onChange: (sidecar: SidecarAddress) => void;
  /** The sidecar has heard of a later leader than this one. */
  onStale: (highestEpoch: bigint, sidecar: SidecarAddress) => void;
  onRefused: OnPeerRefused;
  log: Logger;
}

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

/** The way to one sidecar: a session, opened again whenever it was lost, until the link is closed. */
export class SidecarLink {
  readonly sidecar: SidecarAddress;
  readonly #options: SidecarLinkOptions;
  readonly #channel: ReturnType<typeof connectToSidecar>;
  #session: OperatorSession | undefined;
  #retryMs = FIRST_RETRY_MS;
  #endPause = (): void => {};
  #closed = false;
  readonly #waiting = new Set<() => void>();

  constructor(sidecar: SidecarAddress, options: SidecarLinkOptions) {
    const { trustDomain, credentials, onRefused, port = ports.sidecarGrpc } = options;
    const { namespace, cluster, pod, ip } = sidecar;
    this.sidecar = sidecar;
    this.#options = options;
    this.#channel = connectToSidecar({
      url: `https://${ip.includes(':') ? `[${ip}]` : ip}:${port}`,
      credentials,
      sidecar: { trustDomain, namespace, cluster, pod },
      onRefused,
    });
    void this.#keepOpen();
  }

  get session(): OperatorSession | undefined {
    return this.#session;
  }

  /** The session, as soon as there is one; nothing when that takes longer than `ms`. */
  async whenOpen(ms: number): Promise<OperatorSession | undefined> {
    if (this.#session) return this.#session;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#waiting.add(resolve);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(resolve);
    return this.#session;
  }

  /** The sidecar was heard of another way, so it is up: the next try need not wait. */
  retryNow(): void {
    this.#retryMs = FIRST_RETRY_MS;
    this.#endPause();
  }

  /** Commands under way may still be answered; what is cut after that is an idle connection. */
  close(): void {
    this.#closed = true;
    this.#endPause();
    this.#endWaits();
    void (this.#session?.close() ?? Promise.resolve()).finally(this.#channel.close);
  }

  async #keepOpen(): Promise<void> {
    while (!this.#closed) {
      await this.#openOnce();
      if (!this.#closed) await this.#pause();
    }
  }

  async #openOnce(): Promise<void> {
    const { leaderEpoch, operatorVersion, onReport, onChange, onStale, log } = this.#options;
    const { sidecar } = this;
    const fields = { cluster: `${sidecar.namespace}/${sidecar.cluster}`, pod: sidecar.pod };
    const hello = { contractRevision: CONTRACT_REVISION, operatorVersion, leaderEpoch };
    try {
      const options = { hello, onReport: (report: NodeReport) => onReport(report, sidecar) };
      const session = await openSession(this.#channel.client, options);
      if (this.#closed) return await session.close();
      this.#session = session;
      this.#retryMs = FIRST_RETRY_MS;
      this.#endWaits();
      onChange(sidecar);
      const error = await session.over;
      this.#session = undefined;
      if (this.#closed) return;
      log.debug({ ...fields, error: error?.message }, 'session ended');
      onChange(sidecar);
    } catch (error) {
      if (this.#closed) return;
      log.debug({ ...fields, error: String(error) }, 'session not opened');
      const stale = findStaleLeader(error);
      if (stale) onStale(stale.highestEpoch, sidecar);
    }
  }

  #endWaits(): void {
    for (const end of this.#waiting) end();
  }

  #pause(): Promise<void> {
    const ms = this.#retryMs;
    this.#retryMs = Math.min(ms * 2, LAST_RETRY_MS);
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
