import type { Plan } from '../actions.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';

/** What the operator tells, each by a write of its own. */
export const statusKinds = ['ValkeyCluster', 'ValkeyClusterStatus', 'ValkeyUpgrade'] as const;
export type StatusKind = (typeof statusKinds)[number];

export function writeStatus(cluster: SimulatedCluster, plan: Plan, kind: StatusKind): void {
  const key = `ValkeyClusterStatus/${cluster.names.status}`;
  const child = cluster.children.get(key);
  if (kind === 'ValkeyCluster') cluster.cluster = { ...cluster.cluster, status: plan.status };
  if (kind === 'ValkeyClusterStatus' && child) cluster.children.set(key, { ...child, status: plan.detail });
  if (kind !== 'ValkeyUpgrade') return;
  for (const { name, status } of plan.upgrades ?? []) {
    const upgrade = cluster.upgrades.find(({ metadata }) => metadata.name === name);
    if (upgrade) upgrade.status = status;
  }
}
