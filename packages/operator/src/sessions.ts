import { ports } from '@valkey-operator/api';
import { CONTRACT_REVISION, type NodeReport } from '@valkey-operator/rpc';
import {
  connectToSidecar,
  type CredentialSource,
  type OnPeerRefused,
  openSession,
  type OperatorSession,
} from '@valkey-operator/rpc/operator';
import type { Logger } from './log.ts';

/** Where a sidecar is and whose it must be. */
export interface SidecarAddress {
  namespace: string;
  cluster: string;
  pod: string;
  podUid: string;
  ip: string;
}

export interface SessionsOptions {
  credentials: CredentialSource;
  trustDomain: string;
  leaderEpoch: bigint;
  operatorVersion: string;
  onReport: (report: NodeReport, sidecar: SidecarAddress) => void;
  /** A session opened or ended: the view of its cluster is another one now. */
  onChange: (sidecar: SidecarAddress) => void;
  onRefused: OnPeerRefused;
  log: Logger;
}

interface Link {
  sidecar: SidecarAddress;
  session: OperatorSession | undefined;
  close: () => void;
}

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

/**
 * Sessions to the sidecars of clusters in which something is under way. Each is kept open, and opened again when it was
 * lost, until the cluster is at rest; then heartbeats are enough.
 */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #links = new Map<string, Link>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** The open session to a pod, if there is one. */
  find(podUid: string): OperatorSession | undefined {
    return this.#links.get(podUid)?.session;
  }

  /** Hold sessions to exactly these sidecars of one cluster. */
  want(namespace: string, cluster: string, sidecars: readonly SidecarAddress[]): void {
    const wanted = new Map(sidecars.map((sidecar) => [sidecar.podUid, sidecar]));
    for (const [uid, link] of this.#links) {
      const { sidecar } = link;
      if (sidecar.namespace !== namespace || sidecar.cluster !== cluster) continue;
      if (wanted.get(uid)?.ip !== sidecar.ip) this.#drop(uid, link);
    }
    for (const sidecar of sidecars) {
      if (!this.#links.has(sidecar.podUid)) this.#hold(sidecar);
    }
  }

  /** End all sessions, those under way included: this process leads no more. */
  close(): void {
    for (const [uid, link] of this.#links) this.#drop(uid, link);
  }

  #drop(uid: string, link: Link): void {
    this.#links.delete(uid);
    link.close();
  }

  #hold(sidecar: SidecarAddress): void {
    const { trustDomain, credentials, onRefused } = this.#options;
    const { namespace, cluster, pod } = sidecar;
    const channel = connectToSidecar({
      url: `https://${sidecar.ip}:${ports.sidecarGrpc}`,
      credentials,
      sidecar: { trustDomain, namespace, cluster, pod },
      onRefused,
    });
    const ended = new AbortController();
    const link: Link = {
      sidecar,
      session: undefined,
      close: () => {
        ended.abort();
        // The stream may end in its own time; what is cut off after that is only an idle connection.
        void (link.session?.close() ?? Promise.resolve()).finally(channel.close);
      },
    };
    this.#links.set(sidecar.podUid, link);
    void this.#keepOpen(link, channel.client, ended.signal);
  }

  async #keepOpen(link: Link, client: Parameters<typeof openSession>[0], ended: AbortSignal): Promise<void> {
    const { leaderEpoch, operatorVersion, onReport, onChange, log } = this.#options;
    const { sidecar } = link;
    const hello = { contractRevision: CONTRACT_REVISION, operatorVersion, leaderEpoch };
    for (let retryMs = FIRST_RETRY_MS; !ended.aborted; retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)) {
      try {
        const session = await openSession(client, { hello, onReport: (report) => onReport(report, sidecar) });
        link.session = session;
        retryMs = FIRST_RETRY_MS;
        if (ended.aborted) return;
        onChange(sidecar);
        const error = await session.over;
        link.session = undefined;
        if (ended.aborted) return;
        log.debug({ cluster: sidecar.cluster, pod: sidecar.pod, error: error?.message }, 'session ended');
        onChange(sidecar);
      } catch (error) {
        log.debug({ cluster: sidecar.cluster, pod: sidecar.pod, error: String(error) }, 'session not opened');
      }
      await pause(retryMs, ended);
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
