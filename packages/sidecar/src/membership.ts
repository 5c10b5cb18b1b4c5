import type { ClusterNode } from '@valkey-operator/valkey';
import type { MemoryFiles, Membership } from './node-memory.ts';
import { isUnborn } from './unborn.ts';
import type { ValkeyWatch } from './valkey-watch.ts';

/** The place of the node that wrote this table; one that is yet to be born has none. */
export function describeMembership(nodes: readonly ClusterNode[]): Membership | undefined {
  const myself = nodes.find((node) => node.myself);
  if (!myself || isUnborn(nodes)) return undefined;
  const peers = nodes.filter((node) => !node.myself && !node.handshake && (node.ip !== '' || node.hostname !== ''));
  return {
    nodeId: myself.id,
    role: myself.role === 'replica' ? 'replica' : 'primary',
    slots: myself.slots.toString(),
    configEpoch: myself.configEpoch,
    peers: peers
      .map(({ id, ip, port, hostname, primaryId }) => ({ id, ip, port, hostname, isReplica: primaryId === myself.id }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

/** After each look at Valkey: its place in the cluster. */
export function rememberMembership(watch: ValkeyWatch, memory: MemoryFiles): void {
  watch.subscribe(() => {
    const { cluster } = watch.facts ?? {};
    const membership = cluster && !cluster.unborn && describeMembership(cluster.nodes);
    if (membership) void memory.update({ membership });
  });
}
