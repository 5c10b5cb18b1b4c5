import { setTimeout as sleep } from 'node:timers/promises';
import { done } from '@valkey-operator/rpc/sidecar';
import type { ClusterNode } from '@valkey-operator/valkey';
import { handler, lookAtCluster, waitForEffect, type Node } from './effect.ts';

/** A replica of a primary that has little is in sync before the next look would come. */
const SOON_MS = 50;
const LOOKS = 10;

export const replicate = (node: Node) =>
  handler<'replicate'>(async ({ primaryId }, { signal }) => {
    const { myself } = await lookAtCluster(node);
    if (myself.role === 'replica' && myself.primaryId === primaryId) return done({ unchanged: true });
    // A node hears of others, and of their roles, by gossip; one that it does not know as a primary cannot be followed.
    const isPrimary = ({ id, handshake, role }: ClusterNode) => id === primaryId && !handshake && role === 'primary';
    await waitForEffect(node, signal, ({ nodes }) => nodes.some(isPrimary));
    await node.call('CLUSTER', 'REPLICATE', primaryId);
    await waitForEffect(node, signal, (now) => now.myself.role === 'replica' && now.myself.primaryId === primaryId);
    void lookUntilLinked(node).catch(() => undefined);
  });

/** The command does not wait for it; whoever watches the node hears of it soon. */
async function lookUntilLinked(node: Pick<Node, 'refresh'>): Promise<void> {
  for (let looks = 0; looks < LOOKS; looks += 1) {
    const { info } = await node.refresh();
    if (info.replication?.primary?.up) return;
    await sleep(SOON_MS);
  }
}
