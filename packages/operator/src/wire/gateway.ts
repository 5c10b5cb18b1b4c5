import { durationFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { childNames, TOKEN_AUDIENCE } from '@valkey-operator/core';
import { type KubeClient, type Leadership, reviewToken } from '@valkey-operator/kube';
import { CONTRACT_REVISION, type NodeReport } from '@valkey-operator/rpc';
import {
  createOperatorGateway,
  type CredentialSource,
  notLeaderError,
  type OnPeerRefused,
  type OperatorGatewayOptions,
  type RpcServer,
  TokenCache,
  type TokenOwner,
} from '@valkey-operator/rpc/operator';
import type { Metrics } from '../metrics.ts';

export interface GatewayOptions {
  client: KubeClient;
  credentials: CredentialSource;
  trustDomain: string;
  version: string;
  /** The valid term of this process, if it leads. */
  leadership: () => Leadership | undefined;
  /** `event`: something happened, this is not the usual call of the minute. */
  onReport: (report: NodeReport, kind: 'heartbeat' | 'event') => void;
  isSuperseded: NonNullable<OperatorGatewayOptions['isSuperseded']>;
  onRefused: OnPeerRefused;
  metrics: Pick<Metrics, 'countHeard'>;
}

const POD_NAME = 'authentication.kubernetes.io/pod-name';
const POD_UID = 'authentication.kubernetes.io/pod-uid';
/** How long a sidecar that is not ready should expect a session to be opened. */
const STAY_CONNECTED_MS = 30_000;

/** Where heartbeats and events of all sidecars arrive. Only the leader listens to them; a standby says that it is none. */
export function createGateway(options: GatewayOptions): RpcServer {
  const { client, credentials, trustDomain, version, leadership, onReport, isSuperseded, onRefused, metrics } = options;
  const hear = (kind: 'heartbeat' | 'event', name: string, report: NodeReport | undefined) => {
    const term = leadership();
    if (!term) throw notLeaderError('');
    const sentAt = report?.observedAt && timestampMs(report.observedAt);
    metrics.countHeard(name, sentAt === undefined ? undefined : Date.now() - sentAt);
    if (report) onReport(report, kind);
    return {
      guidance: {
        contractRevision: CONTRACT_REVISION,
        operatorVersion: version,
        leaderEpoch: BigInt(term.epoch),
        ...(report?.readiness?.ready ? {} : { stayConnected: durationFromMs(STAY_CONNECTED_MS) }),
      },
    };
  };
  return createOperatorGateway({
    credentials,
    trustDomain,
    isSuperseded,
    onRefused,
    tokens: new TokenCache({ review: (token) => reviewOwner(client, token) }),
    isMember: (owner, { cluster }) => owner.serviceAccount === childNames(cluster).serviceAccount,
    implementation: {
      heartbeat: ({ report }) => hear('heartbeat', 'heartbeat', report),
      reportEvent: ({ event, report }) => hear('event', event?.kind.case ?? 'unknown', report),
    },
  });
}

/** The pod behind a service account token, if the token is bound to one. */
async function reviewOwner(client: KubeClient, token: string): Promise<TokenOwner | undefined> {
  const user = await reviewToken(client, token, [TOKEN_AUDIENCE]);
  const [, namespace, serviceAccount] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user?.username ?? '') ?? [];
  const [podName] = user?.extra?.[POD_NAME] ?? [];
  const [podUid] = user?.extra?.[POD_UID] ?? [];
  return namespace && serviceAccount && podName && podUid ? { namespace, serviceAccount, podName, podUid } : undefined;
}
