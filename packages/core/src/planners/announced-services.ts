import { childNames } from '../builders/names.ts';
import { settingsInEffect } from '../builders/settings.ts';
import type { ChildObject, ClusterSnapshot } from '../snapshot.ts';

interface Service {
  readonly spec?: { readonly type?: string; readonly loadBalancerSourceRanges?: readonly string[] };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } };
}

/**
 * Clients go where nodes send them (C13): where the settings in effect say, not the spec, whose settings may be refused or on their
 * way. So a Service is there, and a load balancer, until no node announces its address any more. Addresses by Service.
 */
export function listAnnounced(snapshot: ClusterSnapshot): ReadonlyMap<string, string> {
  const { externalService } = childNames(snapshot.cluster.metadata.name);
  const { nodes = {} } = settingsInEffect(snapshot) ?? {};
  const found = snapshot.pods.map(({ name, ordinal }) => {
    const ip = nodes[name]?.['cluster-announce-client-ipv4'];
    return ip === undefined ? [] : [[externalService(ordinal), ip] as const];
  });
  return new Map(found.flat());
}

/** The Service as it is wished, but still a load balancer for those whom it lets in. */
export function keepLoadBalancer(
  wanted: ChildObject,
  announced: ReturnType<typeof listAnnounced>,
  children: ClusterSnapshot['children'],
): ChildObject {
  const ip = wanted.kind === 'Service' ? announced.get(wanted.metadata.name) : undefined;
  if (ip === undefined) return wanted;
  const observed: (ChildObject & Service) | undefined = children.find(
    ({ kind, metadata }) => kind === 'Service' && metadata.name === wanted.metadata.name,
  );
  const { type, loadBalancerSourceRanges } = observed?.spec ?? {};
  const isUsed = observed?.status?.loadBalancer?.ingress?.some((each) => each.ip === ip) ?? false;
  const spec = wanted['spec'] as NonNullable<Service['spec']>;
  if (!isUsed || type !== 'LoadBalancer' || spec.type === type) return wanted;
  return { ...wanted, spec: { ...spec, type, ...(loadBalancerSourceRanges && { loadBalancerSourceRanges }) } };
}
