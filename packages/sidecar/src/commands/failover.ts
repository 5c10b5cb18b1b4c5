import { setTimeout as sleep } from 'node:timers/promises';
import { FailoverMode } from '@valkey-operator/rpc';
import { done } from '@valkey-operator/rpc/sidecar';
import { isElectable } from '../electable.ts';
import { handler, InvalidCommandError, lookAtCluster, waitForEffect, type Node } from './effect.ts';

// Valkey gives up a coordinated failover after 5 s; then it may be asked again.
const ASK_AGAIN_MS = 6000;
const ELECTABLE_POLL_MS = 50;

export const failover = (node: Node, judge: typeof isElectable = isElectable) =>
  handler<'failover'>(async ({ mode }, { signal }) => {
    const words = wordsOf(mode);
    const { myself } = await lookAtCluster(node);
    if (myself.role === 'primary') return done({ unchanged: true });
    if (mode === FailoverMode.COORDINATED) await whenItComesOff(node, judge, signal);
    const ask = () => node.call('CLUSTER', 'FAILOVER', ...words);
    await ask();
    await waitForEffect(node, signal, (now) => now.myself.role === 'primary', { everyMs: ASK_AGAIN_MS, push: ask });
  });

/**
 * Others may need seconds to hear of this node. Meanwhile its link may be lost and come back by another copy of all data, for
 * which writes would wait: so the link is looked at last, after them.
 */
async function whenItComesOff(node: Node, judge: typeof isElectable, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { cluster } = await node.refresh();
    if (cluster && (await judge(cluster.myself, cluster.nodes)) && (await isInStep(node))) return;
    await sleep(ELECTABLE_POLL_MS, undefined, { signal });
  }
}

async function isInStep(node: Node): Promise<boolean> {
  const { cluster, info } = await node.refresh();
  const link = info.replication?.primary;
  return cluster !== undefined && link?.up === true && !link.syncInProgress;
}

function wordsOf(mode: FailoverMode): string[] {
  switch (mode) {
    case FailoverMode.COORDINATED:
      return [];
    case FailoverMode.FORCE:
      return ['FORCE'];
    case FailoverMode.TAKEOVER:
      return ['TAKEOVER'];
    default:
      throw new InvalidCommandError('failover needs a mode');
  }
}
