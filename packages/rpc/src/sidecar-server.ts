import type { CommandExecutor } from './command-executor.ts';
import type { CredentialSource } from './credential-source.ts';
import { SidecarService } from './gen/valkey/sidecar/v1/sidecar_service_pb.ts';
import type { IdentityProvider, OnPeerRefused } from './peer.ts';
import { createRpcServer, type RpcServer } from './rpc-server.ts';
import { implementSidecarService, type ReportSource } from './serve-session.ts';

export interface SidecarServerOptions {
  readonly credentials: CredentialSource;
  readonly identity?: IdentityProvider;
  readonly trustDomain: string;
  readonly executor: CommandExecutor;
  readonly reports: ReportSource;
  readonly onRefused: OnPeerRefused;
  readonly now?: () => Date;
}

/** A sidecar's end for the operator, and for nobody else. */
export function createSidecarServer({ trustDomain, executor, reports, ...options }: SidecarServerOptions): RpcServer {
  return createRpcServer({
    ...options,
    admits: (id) => id.kind === 'operator' && id.trustDomain === trustDomain,
    routes: (router) => router.service(SidecarService, implementSidecarService(executor, reports)),
  });
}
