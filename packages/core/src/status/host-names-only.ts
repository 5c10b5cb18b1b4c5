import { findHostNamesOnly } from '../announced.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import type { Finding } from './health.ts';
import { listNames } from './list-names.ts';

/** Nobody outside reaches the cluster, and that does not end by itself. Nothing else waits for it. */
export function describeHostNamesOnly(snapshot: ClusterSnapshot): Finding | undefined {
  const [first, ...others] = findHostNamesOnly(snapshot);
  if (!first) return undefined;
  const also = others.length > 0 ? ` The same with ${listNames(others.map(({ service }) => service))}.` : '';
  const message =
    `spec.services.external is LoadBalancer, but the load balancer of Service ${first.service} gives only a host name ` +
    `(${first.hostname}), and nodes can tell clients only addresses: those of pods, as long as there is no other. Have it give an ` +
    `address (spec.services.external.annotations), use NodePort (Valkey 9.1), or turn spec.services.external off.${also}`;
  return { reason: 'InvalidSpec', message };
}
