/** A SPIFFE id taken apart. https://github.com/spiffe/spiffe/blob/main/standards/SPIFFE-ID.md */
export interface SpiffeId {
  readonly trustDomain: string;
  readonly segments: readonly string[];
}

export interface OperatorId {
  readonly kind: 'operator';
  readonly trustDomain: string;
}

export interface SidecarId {
  readonly kind: 'sidecar';
  readonly trustDomain: string;
  readonly namespace: string;
  readonly cluster: string;
  /** Only identities from SPIRE name the pod; ours prove the cluster, and a pod-bound token proves the pod. */
  readonly pod?: string;
}

export type WorkloadId = OperatorId | SidecarId;

const SCHEME = 'spiffe://';
const MAX_LENGTH = 2048;
const TRUST_DOMAIN = /^[a-z0-9._-]{1,255}$/;
const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9._-]+$/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;

/** Strict: no port, user, query, fragment, percent-encoding, empty or dot segment; `undefined` for anything else. */
export function parseSpiffeId(uri: string): SpiffeId | undefined {
  if (!uri.startsWith(SCHEME) || uri.length > MAX_LENGTH) return undefined;
  const [trustDomain = '', ...segments] = uri.slice(SCHEME.length).split('/');
  if (!TRUST_DOMAIN.test(trustDomain) || !segments.every((segment) => SEGMENT.test(segment))) return undefined;
  return { trustDomain, segments };
}

export function formatSpiffeId(id: SpiffeId): string {
  const uri = [SCHEME + id.trustDomain, ...id.segments].join('/');
  if (!parseSpiffeId(uri)) throw new RangeError(`not a SPIFFE id: ${JSON.stringify(uri)}`);
  return uri;
}

/** Who a URI names among the workloads of this project; `undefined` when it names none of them. */
export function parseWorkloadId(uri: string): WorkloadId | undefined {
  const id = parseSpiffeId(uri);
  if (!id) return undefined;
  const { trustDomain, segments } = id;
  if (segments.length === 1 && segments[0] === 'operator') return { kind: 'operator', trustDomain };

  const [ns, namespace = '', kind, cluster = '', role, pod, ...rest] = segments;
  if (ns !== 'ns' || kind !== 'valkeycluster' || role !== 'sidecar' || rest.length > 0) return undefined;
  if (!LABEL.test(namespace) || !SUBDOMAIN.test(cluster)) return undefined;
  if (pod === undefined) return { kind: 'sidecar', trustDomain, namespace, cluster };
  return SUBDOMAIN.test(pod) ? { kind: 'sidecar', trustDomain, namespace, cluster, pod } : undefined;
}

export function workloadIdUri(id: WorkloadId): string {
  const segments = id.kind === 'operator' ? ['operator'] : sidecarSegments(id);
  const uri = formatSpiffeId({ trustDomain: id.trustDomain, segments });
  if (!parseWorkloadId(uri)) throw new RangeError(`not an identity of a workload: ${JSON.stringify(uri)}`);
  return uri;
}

function sidecarSegments(id: SidecarId): string[] {
  const segments = ['ns', id.namespace, 'valkeycluster', id.cluster, 'sidecar'];
  return id.pod === undefined ? segments : [...segments, id.pod];
}
