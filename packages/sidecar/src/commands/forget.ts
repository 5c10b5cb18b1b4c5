import { done } from '@valkey-operator/rpc/sidecar';
import { handler, lookAtCluster, type Node } from './effect.ts';

export const forget = (node: Node) =>
  handler<'forget'>(async ({ nodeIds }) => {
    const { nodes } = await lookAtCluster(node);
    const known = nodeIds.filter((id) => nodes.some((each) => each.id === id));
    for (const id of known) await node.call('CLUSTER', 'FORGET', id);
    if (known.length === 0) return done({ unchanged: true });
  });
