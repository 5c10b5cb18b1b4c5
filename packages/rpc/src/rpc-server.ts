import { once } from 'node:events';
import { createSecureServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';

import {
  Code,
  ConnectError,
  createContextKey,
  createContextValues,
  type ConnectRouter,
  type HandlerContext,
  type Interceptor,
} from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import type { WorkloadId } from '@valkey-operator/pki/verify';

import { tlsOptions, type CredentialSource } from './credential-source.ts';
import {
  findHandshakeProblem,
  identifyPeer,
  readPeer,
  type OnPeerRefused,
  type Peer,
  type PeerPolicy,
} from './peer.ts';

export interface RpcServerOptions extends PeerPolicy {
  readonly credentials: CredentialSource;
  readonly routes: (router: ConnectRouter) => void;
  /** A further proof, asked of each call before its body is read; throws to refuse it. */
  readonly prove?: (context: HandlerContext, id: WorkloadId, peer: Peer) => Promise<void>;
  readonly interceptors?: Interceptor[];
  readonly onRefused: OnPeerRefused;
  readonly now?: () => Date;
}

export interface RpcServer {
  listen(port: number, host?: string): Promise<AddressInfo>;
  /** Ends streams with UNAVAILABLE and closes; connections that do not end by themselves are cut. */
  close(): Promise<void>;
}

const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
// Of one peer at once; the others wait at their end, so that a flood costs the sender its memory, not us ours.
const MAX_CALLS = 64;
const CLOSE_GRACE_MS = 2000;
// A peer that lives pings open streams each 20 s and closes an idle connection after 150 s; a silent one has died.
const SILENT_PEER_MS = 180_000;

const peerKey = createContextKey<Peer | undefined>(undefined);

/** gRPC over mutual TLS that goes on without a dropped stream when its credentials change. */
export function createRpcServer(options: RpcServerOptions): RpcServer {
  const { credentials, onRefused } = options;
  const sessions = new Map<ServerHttp2Session, Peer>();
  const shutdown = new AbortController();

  const server = createSecureServer(
    // Untrusted peers are let through the handshake and turned away right after it: only so it is known why.
    {
      ...tlsOptions(credentials.current()),
      requestCert: true,
      rejectUnauthorized: false,
      allowHTTP1: false,
      settings: { maxConcurrentStreams: MAX_CALLS },
    },
    connectNodeAdapter({
      routes: options.routes,
      grpc: true,
      grpcWeb: false,
      connect: false,
      acceptCompression: [],
      readMaxBytes: MAX_MESSAGE_BYTES,
      shutdownSignal: shutdown.signal,
      contextValues: (request) => {
        const session = 'stream' in request ? request.stream.session : undefined;
        return createContextValues().set(peerKey, session && sessions.get(session as ServerHttp2Session));
      },
      requestGate: admitCall,
      ...(options.interceptors && { interceptors: options.interceptors }),
    }),
  );
  server.on('session', admitSession);
  server.on('tlsClientError', (error, socket: TLSSocket) => {
    const address = socket.remoteAddress ?? 'unknown';
    onRefused({ reason: 'HandshakeFailed', peer: { address }, message: error.message });
  });
  // Connections that are open keep what they were made with; new ones begin with the new credentials.
  const unsubscribe = credentials.subscribe(() => server.setSecureContext(tlsOptions(credentials.current())));

  function admitSession(session: ServerHttp2Session): void {
    const socket = session.socket as TLSSocket;
    const peer = readPeer(socket);
    const problem = findHandshakeProblem(socket, peer);
    if (problem) {
      onRefused(problem);
      return session.destroy();
    }
    sessions.set(session, peer);
    session.once('close', () => sessions.delete(session));
    session.setTimeout(SILENT_PEER_MS, () => session.destroy());
  }

  async function admitCall(context: HandlerContext): Promise<void> {
    const peer = context.values.get(peerKey);
    if (!peer) throw new ConnectError('not authenticated', Code.Unauthenticated);
    const verdict = identifyPeer(peer, options, options.now?.() ?? new Date());
    if ('refusal' in verdict) {
      onRefused(verdict.refusal);
      const code = verdict.refusal.reason === 'WrongIdentity' ? Code.PermissionDenied : Code.Unauthenticated;
      throw new ConnectError(verdict.refusal.message, code);
    }
    await options.prove?.(context, verdict.id, peer);
  }

  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    unsubscribe();
    shutdown.abort(new ConnectError('shutting down', Code.Unavailable));
    const closed = once(server, 'close');
    server.close();
    for (const session of sessions.keys()) session.close();
    const cut = setTimeout(() => sessions.forEach((_, session) => session.destroy()), CLOSE_GRACE_MS);
    await closed;
    clearTimeout(cut);
  }

  return {
    async listen(port, host) {
      server.listen(port, host);
      await once(server, 'listening');
      return server.address() as AddressInfo;
    },
    close: () => (closing ??= close()),
  };
}
