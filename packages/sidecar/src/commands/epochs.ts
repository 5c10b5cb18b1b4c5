import { done } from '@valkey-operator/rpc/sidecar';
import { handler, lookAtCluster, type Node } from './effect.ts';

export const setConfigEpoch = (node: Node) =>
  handler<'setConfigEpoch'>(async ({ epoch }) => {
    const { myself } = await lookAtCluster(node);
    if (BigInt(myself.configEpoch) === epoch) return done({ unchanged: true });
    await node.call('CLUSTER', 'SET-CONFIG-EPOCH', String(epoch));
  });

export const bumpEpoch = (node: Node) =>
  handler<'bumpEpoch'>(async () => {
    await node.call('CLUSTER', 'BUMPEPOCH');
    const { myself } = await lookAtCluster(node);
    return done({ detail: { case: 'bumpEpoch', value: { configEpoch: BigInt(myself.configEpoch) } } });
  });
