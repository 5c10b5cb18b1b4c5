import type { ClusterReport, NodeReport } from '@valkey-operator/rpc';

/** What of a report is worth telling at once. Two that have it in common differ only in what never rests. */
export function significanceOf(report: NodeReport): string {
  const { process, cluster, replication, config, readiness, leaderEpoch, slotMove } = report;
  const link = replication && [replication.link, replication.syncInProgress, replication.syncedOnce];
  const replicas = replication?.replicas.map(({ ip, state }) => [ip, state]);
  const move = slotMove && [slotMove.state, slotMove.targetId, slotMove.failures, slotMove.message];
  const table = cluster && cluster.openSlots.length > 0 ? withoutOwners(cluster) : cluster;
  const facts = [process, table, link, replicas, config, readiness, leaderEpoch, move];
  return JSON.stringify(facts, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

/** While slots move one by one, every look shows some with another owner, at every node. */
function withoutOwners(cluster: ClusterReport): unknown {
  const { slots: _slots, openSlots: _open, configEpoch: _epoch, currentEpoch: _current, nodes, ...rest } = cluster;
  return { ...rest, nodes: nodes.map(({ slots: _owned, configEpoch: _nodeEpoch, ...node }) => node) };
}
