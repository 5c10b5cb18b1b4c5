import { done } from '@valkey-operator/rpc/sidecar';
import type { ClusterFacts } from '../valkey-facts.ts';
import { handler, lookAtCluster, waitForEffect, type Node } from './effect.ts';

// A greeting may be lost, and one to a node that was forgotten less than a minute ago is ignored without a word.
const GREET_AGAIN_MS = 1000;

export const meet = (node: Node) =>
  handler<'meet'>(async ({ peers }, { signal }) => {
    const strangers = (cluster: ClusterFacts) =>
      peers.filter(({ nodeId, ip }) => !cluster.nodes.some((known) => known.id === nodeId && isAcquainted(known, ip)));
    const greet = (cluster: ClusterFacts) =>
      Promise.all(
        strangers(cluster).map(({ ip, port, busPort }) =>
          node.call('CLUSTER', 'MEET', ip, String(port), ...(busPort > 0 ? [String(busPort)] : [])),
        ),
      );
    const cluster = await lookAtCluster(node);
    if (strangers(cluster).length === 0) return done({ unchanged: true });
    await greet(cluster);
    await waitForEffect(node, signal, (now) => strangers(now).length === 0, { everyMs: GREET_AGAIN_MS, push: greet });
  });

/** Valkey calls a link connected from its first attempt on, also one to an address where nobody is any more. */
function isAcquainted(known: ClusterFacts['nodes'][number], ip: string): boolean {
  return known.myself || (known.linkConnected && !known.handshake && known.ip === ip);
}
