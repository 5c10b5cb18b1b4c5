import { done } from '@valkey-operator/rpc/sidecar';
import type { ClusterNode } from '@valkey-operator/valkey';
import { handler, lookAtCluster, waitForEffect, type Node } from './effect.ts';

export const replicate = (node: Node) =>
  handler<'replicate'>(async ({ primaryId }, { signal }) => {
    const { myself } = await lookAtCluster(node);
    if (myself.role === 'replica' && myself.primaryId === primaryId) return done({ unchanged: true });
    // A node hears of others, and of their roles, by gossip; one that it does not know as a primary cannot be followed.
    const isPrimary = ({ id, handshake, role }: ClusterNode) => id === primaryId && !handshake && role === 'primary';
    await waitForEffect(node, signal, ({ nodes }) => nodes.some(isPrimary));
    await node.call('CLUSTER', 'REPLICATE', primaryId);
    await waitForEffect(node, signal, (now) => now.myself.role === 'replica' && now.myself.primaryId === primaryId);
  });
