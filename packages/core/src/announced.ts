import { ports } from '@valkey-operator/api';
import { knowsSetting, type ValkeyVersion } from '@valkey-operator/valkey';
import { childNames } from './builders/names.ts';
import type { NodeSettings } from './builders/settings.ts';
import type { ChildObject, ClusterSnapshot, PodView } from './snapshot.ts';

interface Service {
  readonly spec?: { readonly ports?: readonly { readonly nodePort?: number }[] };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly Ingress[] } };
}

interface Ingress {
  readonly ip?: string;
  readonly hostname?: string;
}

/**
 * What each node tells clients of its address (C13), where it is to be reached from outside: by pod, and only where the
 * address is known. Nodes go on to use the addresses of pods among themselves.
 */
export function announcedSettings(snapshot: ClusterSnapshot): Record<string, Record<string, string>> {
  const { enabled, type = 'LoadBalancer' } = snapshot.spec.services.external;
  if (!enabled) return {};
  const find = type === 'NodePort' ? findNodePort : findLoadBalancer;
  const found = snapshot.pods.toSorted((a, b) => a.ordinal - b.ordinal).map((pod) => [pod.name, find(snapshot, pod)]);
  return Object.fromEntries(found.filter(([, settings]) => settings !== undefined));
}

/** What a version does not have of what nodes tell clients. */
export function findUnannounceable(nodes: NodeSettings['nodes'] = {}, version: ValkeyVersion): string | undefined {
  return Object.values(nodes)
    .flatMap((settings) => Object.keys(settings))
    .find((name) => !knowsSetting(version, name));
}

function findLoadBalancer(snapshot: ClusterSnapshot, pod: PodView): Record<string, string> | undefined {
  const ip = listIngress(snapshot, pod).find((each) => each.ip)?.ip;
  return ip === undefined ? undefined : { 'cluster-announce-client-ipv4': ip };
}

/**
 * Services whose load balancer has a host name and no address. Valkey tells clients one host name of a node, and that is the pod's
 * (`cluster-announce-hostname`): it says whose node it is after its address has changed.
 */
export function findHostNamesOnly(
  snapshot: ClusterSnapshot,
): { readonly service: string; readonly hostname: string }[] {
  const { enabled, type = 'LoadBalancer' } = snapshot.spec.services.external;
  if (!enabled || type !== 'LoadBalancer') return [];
  return snapshot.pods
    .toSorted((a, b) => a.ordinal - b.ordinal)
    .flatMap((pod) => {
      const ingress = listIngress(snapshot, pod);
      const hostname = ingress.some(({ ip }) => ip) ? undefined : ingress.find((each) => each.hostname)?.hostname;
      const service = childNames(snapshot.cluster.metadata.name).externalService(pod.ordinal);
      return hostname === undefined ? [] : [{ service, hostname }];
    });
}

function listIngress(snapshot: ClusterSnapshot, pod: PodView): readonly Ingress[] {
  return findService(snapshot, pod)?.status?.loadBalancer?.ingress ?? [];
}

/** Any node of Kubernetes answers on the port; the pod's own saves a hop. */
function findNodePort(snapshot: ClusterSnapshot, pod: PodView): Record<string, string> | undefined {
  const nodePort = findService(snapshot, pod)?.spec?.ports?.[0]?.nodePort;
  const ip = snapshot.kubernetesNodes.find(({ name }) => name === pod.kubernetesNode)?.address;
  if (nodePort === undefined || ip === undefined) return undefined;
  return {
    'cluster-announce-client-ipv4': ip,
    ...(nodePort !== ports.valkey && { 'cluster-announce-client-port': String(nodePort) }),
  };
}

function findService(
  { cluster, children }: ClusterSnapshot,
  { ordinal }: PodView,
): (ChildObject & Service) | undefined {
  const name = childNames(cluster.metadata.name).externalService(ordinal);
  return children.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name);
}
