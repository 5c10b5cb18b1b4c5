import { done } from '@valkey-operator/rpc/sidecar';
import { handler, lookAtCluster, waitForEffect, type Node } from './effect.ts';

export const replicate = (node: Node) =>
  handler<'replicate'>(async ({ primaryId }, { signal }) => {
    const { myself } = await lookAtCluster(node);
    if (myself.role === 'replica' && myself.primaryId === primaryId) return done({ unchanged: true });
    // A node hears of others by gossip; one that it does not know yet cannot be followed.
    await waitForEffect(node, signal, ({ nodes }) => nodes.some(({ id, handshake }) => id === primaryId && !handshake));
    await node.call('CLUSTER', 'REPLICATE', primaryId);
    await waitForEffect(node, signal, (now) => now.myself.role === 'replica' && now.myself.primaryId === primaryId);
  });
