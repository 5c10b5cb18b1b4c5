import type { ClientHttp2Stream } from 'node:http2';
import { connect, type TLSSocket } from 'node:tls';

import type { DescService } from '@bufbuild/protobuf';
import { createClient, type Client, type Interceptor } from '@connectrpc/connect';
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';

import { tlsOptions, type CredentialSource } from './credential-source.ts';
import {
  describeVerdict,
  identifyPeer,
  readPeer,
  type OnPeerRefused,
  type PeerPolicy,
  type PeerRefusal,
} from './peer.ts';
import { retryCutShort } from './retry-cut-short.ts';

export interface RpcChannelOptions extends PeerPolicy {
  /** https://host:port. The host is where to go; who answers there is decided by the SPIFFE id alone. */
  readonly url: string;
  readonly credentials: CredentialSource;
  readonly interceptors?: Interceptor[];
  readonly onRefused: OnPeerRefused;
  readonly now?: () => Date;
}

export interface RpcChannel<S extends DescService> {
  readonly client: Client<S>;
  /** Cuts what is open. */
  readonly close: () => void;
}

// No call begins on a connection older than this, so that what was proven at its opening is proven again in time.
const MAX_CONNECTION_AGE_MS = 30 * 60_000;
// Longer than the pause between two heartbeats: a handshake a minute and pod would cost more than an idle connection.
const IDLE_CONNECTION_MS = 150_000;
// The network may swallow what is sent to a pod that is gone; the system would wait for minutes.
const CONNECT_TIMEOUT_MS = 10_000;
const PING_INTERVAL_MS = 20_000;
const PING_TIMEOUT_MS = 10_000;

/** gRPC over mutual TLS: new credentials are used from the next call on, calls under way are left alone. */
export function createRpcChannel<S extends DescService>(service: S, options: RpcChannelOptions): RpcChannel<S> {
  const connections = new Connections(options);
  const transport = createGrpcTransport({
    baseUrl: options.url,
    sessionManager: connections,
    acceptCompression: [],
    interceptors: [retryCutShort, ...(options.interceptors ?? [])],
  });
  return { client: createClient(service, transport), close: () => connections.close() };
}

/** One connection for new calls, and those before it for as long as their last calls take. */
class Connections {
  readonly authority: string;
  readonly #options: RpcChannelOptions;
  readonly #retired = new Set<Http2SessionManager>();
  readonly #unsubscribe: () => void;
  #newest: { readonly manager: Http2SessionManager; readonly openedAt: number } | undefined;

  constructor(options: RpcChannelOptions) {
    this.#options = options;
    this.authority = new URL(options.url).origin;
    this.#unsubscribe = options.credentials.subscribe(() => this.#retire());
  }

  request(...request: Parameters<Http2SessionManager['request']>): Promise<ClientHttp2Stream> {
    const now = this.#now().getTime();
    if (this.#newest && now - this.#newest.openedAt > MAX_CONNECTION_AGE_MS) this.#retire();
    this.#newest ??= { manager: this.#open(), openedAt: now };
    return this.#newest.manager.request(...request);
  }

  notifyResponseByteRead(stream: ClientHttp2Stream): void {
    for (const manager of this.#managers()) manager.notifyResponseByteRead(stream);
  }

  close(): void {
    this.#unsubscribe();
    for (const manager of this.#managers()) manager.abort();
    this.#newest = undefined;
    this.#retired.clear();
  }

  #managers(): Http2SessionManager[] {
    return this.#newest ? [this.#newest.manager, ...this.#retired] : [...this.#retired];
  }

  #retire(): void {
    for (const manager of this.#retired) if (isOver(manager)) this.#retired.delete(manager);
    if (!this.#newest) return;
    const { manager } = this.#newest;
    this.#newest = undefined;
    this.#retired.add(manager);
    if (manager.state() === 'idle') manager.abort();
  }

  #open(): Http2SessionManager {
    const times = {
      idleConnectionTimeoutMs: IDLE_CONNECTION_MS,
      pingIntervalMs: PING_INTERVAL_MS,
      pingTimeoutMs: PING_TIMEOUT_MS,
    };
    return new Http2SessionManager(this.authority, times, { createConnection: (url) => this.#connect(url) });
  }

  #connect({ hostname, port }: URL): TLSSocket {
    const { credentials, onRefused } = this.#options;
    const stranger: { refusal?: PeerRefusal } = {};
    const socket = connect({
      ...tlsOptions(credentials.current()),
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || 443),
      ALPNProtocols: ['h2'],
      checkServerIdentity: () => {
        const verdict = identifyPeer(readPeer(socket), this.#options, this.#now());
        if ('id' in verdict) return undefined;
        stranger.refusal = verdict.refusal;
        return new Error(verdict.refusal.message);
      },
    });
    const late = setTimeout(() => socket.destroy(new Error('no connection in time')), CONNECT_TIMEOUT_MS);
    socket.once('secureConnect', () => clearTimeout(late)).once('close', () => clearTimeout(late));
    socket.once('error', () => {
      // authorizationError is set when it was the certificate, not the network, that failed.
      if (!socket.authorizationError) return;
      onRefused(stranger.refusal ?? describeVerdict(socket, { address: this.authority }));
    });
    return socket;
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date();
  }
}

function isOver(manager: Http2SessionManager): boolean {
  const state = manager.state();
  return state === 'closed' || state === 'error';
}
