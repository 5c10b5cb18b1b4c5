import type { ClusterReport, NodeReport } from '@valkey-operator/rpc';

/** What of a report is worth telling at once. Two that have it in common differ only in what never rests. */
export function significanceOf(report: NodeReport): string {
  const { process, cluster, replication, config, readiness, leaderEpoch, slotMove } = report;
  const link = replication && [replication.link, replication.syncInProgress, replication.syncedOnce];
  const replicas = replication?.replicas.map(({ ip, state }) => [ip, state]);
  const move = slotMove && [slotMove.state, slotMove.targetId, slotMove.failures, slotMove.message];
  const table = cluster && withoutOwners(cluster);
  const facts = [process, table, link, replicas, config, readiness, leaderEpoch, move];
  return JSON.stringify(facts, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

/**
 * While slots move, every look of every node shows some with another owner. The two nodes that they move between tell of it,
 * unless they go one by one; who else has heard of it, and that the cluster is whole, is told with the next report.
 */
function withoutOwners({
  slots,
  configEpoch,
  currentEpoch: _current,
  openSlots,
  nodes,
  ...rest
}: ClusterReport): unknown {
  const own = openSlots.length > 0 ? 'open' : [slots, configEpoch];
  return { ...rest, own, nodes: nodes.map(({ slots: _owned, configEpoch: _epoch, ...node }) => node) };
}
