import { type ClusterReport, MoveState, type NodeReport } from '@valkey-operator/rpc';

/** What of a report is worth telling at once. Two that have it in common differ only in what never rests. */
export function significanceOf(report: NodeReport): string {
  const { process, cluster, replication, config, readiness, leaderEpoch, slotMove, memory } = report;
  const link = replication && [replication.link, replication.syncInProgress, replication.syncedOnce];
  const replicas = replication?.replicas.map(({ ip, state }) => [ip, state]);
  const move = slotMove && [
    slotMove.state,
    slotMove.targetId,
    slotMove.failures,
    slotMove.message,
    slotMove.notableKeys,
  ];
  const table = cluster && withoutOwners(cluster, slotMove?.state === MoveState.RUNNING);
  // Whether an older Valkey could hold the data: a way back may be about to begin.
  const isNewData = (memory?.expiringHashes ?? 0n) > 0n;
  const facts = [process, table, link, replicas, config, readiness, leaderEpoch, move, isNewData];
  return JSON.stringify(facts, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

/**
 * While slots move, every look of every node shows some with another owner. The two nodes that they move between tell when
 * that begins and when it has ended; how far it is, who else has heard of it, and that the cluster is whole, is told with the
 * next report.
 */
function withoutOwners(
  { slots, configEpoch, currentEpoch: _current, openSlots, migrations, nodes, ...rest }: ClusterReport,
  isMoving: boolean,
): unknown {
  const own = isMoving || openSlots.length + migrations.length > 0 ? 'moving' : [slots, configEpoch];
  return { ...rest, own, nodes: nodes.map(({ slots: _owned, configEpoch: _epoch, ...node }) => node) };
}
