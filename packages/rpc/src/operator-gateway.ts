import { isMessage } from '@bufbuild/protobuf';
import {
  Code,
  ConnectError,
  createContextKey,
  type HandlerContext,
  type Interceptor,
  type ServiceImpl,
} from '@connectrpc/connect';
import type { CertificateFacts, SidecarId, WorkloadId } from '@valkey-operator/pki/verify';

import type { CredentialSource } from './credential-source.ts';
import {
  HeartbeatRequestSchema,
  OperatorService,
  ReportEventRequestSchema,
} from './gen/valkey/operator/v1/operator_service_pb.ts';
import type { PodIdentity } from './gen/valkey/sidecar/v1/node_report_pb.ts';
import type { IdentityProvider, OnPeerRefused, Peer, PeerRefusalReason } from './peer.ts';
import { readPodToken } from './pod-token.ts';
import { createRpcServer, type RpcServer } from './rpc-server.ts';
import type { TokenCache, TokenOwner } from './token-cache.ts';

export interface OperatorGatewayOptions {
  readonly credentials: CredentialSource;
  readonly identity?: IdentityProvider;
  readonly trustDomain: string;
  readonly tokens: Pick<TokenCache, 'verify'>;
  /** Whether a pod of the same namespace is one of the cluster's; its service account tells. */
  readonly isMember: (owner: TokenOwner, cluster: SidecarId) => boolean;
  /** Whether a certificate has been replaced and its grace period is over; it is refused then, though it has not ended. */
  readonly isSuperseded?: (certificate: CertificateFacts, cluster: SidecarId) => boolean;
  readonly implementation: ServiceImpl<typeof OperatorService>;
  readonly onRefused: OnPeerRefused;
  readonly now?: () => Date;
}

/** The sidecar that is calling. The pod is named by its token, or by its SPIFFE id where SPIRE gives one to each pod. */
interface Caller {
  readonly peer: Peer;
  readonly cluster: SidecarId;
  readonly pod: { readonly name: string; readonly uid?: string };
}

const callerKey = createContextKey<Caller | undefined>(undefined);

/** The operator's end for heartbeats and events: it lets a sidecar speak for its own pod and for nothing else. */
export function createOperatorGateway(options: OperatorGatewayOptions): RpcServer {
  const { credentials, trustDomain, implementation, onRefused } = options;
  return createRpcServer({
    credentials,
    onRefused,
    admits: (id) => id.kind === 'sidecar' && id.trustDomain === trustDomain,
    prove,
    interceptors: [checkReport],
    routes: (router) => router.service(OperatorService, implementation),
    ...(options.identity && { identity: options.identity }),
    ...(options.now && { now: options.now }),
  });

  async function prove(context: HandlerContext, id: WorkloadId, peer: Peer): Promise<void> {
    if (id.kind !== 'sidecar') return;
    if (peer.certificate && options.isSuperseded?.(peer.certificate, id)) {
      throw refuse('SupersededCertificate', peer, 'the certificate has been replaced, and its grace period is over');
    }
    const pod = id.pod === undefined ? await provePod(context, id, peer) : { name: id.pod };
    context.values.set(callerKey, { peer, cluster: id, pod });
  }

  async function provePod(context: HandlerContext, cluster: SidecarId, peer: Peer): Promise<Caller['pod']> {
    const token = readPodToken(context.requestHeader);
    if (token === undefined) throw refuse('NoToken', peer, 'the call carries no token');
    const owner = await options.tokens.verify(token).catch((error: unknown) => {
      throw new ConnectError('the token cannot be reviewed now', Code.Unavailable, undefined, undefined, error);
    });
    if (!owner) throw refuse('InvalidToken', peer, 'the token is not valid');
    if (owner.namespace !== cluster.namespace || !options.isMember(owner, cluster)) {
      const pod = `${owner.namespace}/${owner.podName}`;
      throw refuse(
        'ForeignToken',
        peer,
        `the token is of ${pod}, which is no pod of ${cluster.namespace}/${cluster.cluster}`,
      );
    }
    return { name: owner.podName, uid: owner.podUid };
  }

  /** Every request of this service carries a report, and a report is of its caller. */
  function checkReport(next: Parameters<Interceptor>[0]): ReturnType<Interceptor> {
    return (request) => {
      const caller = request.contextValues.get(callerKey);
      const { message } = request;
      const hasReport = isMessage(message, HeartbeatRequestSchema) || isMessage(message, ReportEventRequestSchema);
      const pod = hasReport ? message.report?.pod : undefined;
      if (!caller || !pod || !isOf(pod, caller)) {
        const claimed = pod ? `${pod.namespace}/${pod.cluster}/${pod.name}` : 'nobody';
        const { peer = { address: 'unknown' } } = caller ?? {};
        throw refuse(
          'ForeignToken',
          peer,
          `the report is of ${claimed}, the caller is ${caller?.pod.name ?? 'nobody'}`,
        );
      }
      return next(request);
    };
  }

  function refuse(reason: PeerRefusalReason, peer: Peer, message: string): ConnectError {
    onRefused({ reason, peer, message });
    return new ConnectError(message, reason === 'ForeignToken' ? Code.PermissionDenied : Code.Unauthenticated);
  }
}

function isOf(pod: PodIdentity, { cluster, pod: { name, uid = pod.uid } }: Caller): boolean {
  return pod.namespace === cluster.namespace && pod.cluster === cluster.cluster && pod.name === name && pod.uid === uid;
}
