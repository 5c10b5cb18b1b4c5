import { setTimeout as sleep } from 'node:timers/promises';
import { FailoverMode } from '@valkey-operator/rpc';
import { done } from '@valkey-operator/rpc/sidecar';
import { askForAccepted } from '../accepted-replica.ts';
import type { ClusterFacts } from '../valkey-facts.ts';
import { handler, InvalidCommandError, lookAtCluster, waitForEffect, type Node } from './effect.ts';

// Valkey gives up a coordinated failover after 5 s; then it may be asked again.
const ASK_AGAIN_MS = 6000;
const ACCEPTANCE_POLL_MS = 50;

export const failover = (node: Node, findAccepted = askForAccepted) =>
  handler<'failover'>(async ({ mode }, { signal }) => {
    const words = wordsOf(mode);
    const cluster = await lookAtCluster(node);
    if (cluster.myself.role === 'primary') return done({ unchanged: true });
    if (mode === FailoverMode.COORDINATED) await untilAccepted(cluster, findAccepted, signal);
    const ask = () => node.call('CLUSTER', 'FAILOVER', ...words);
    await ask();
    await waitForEffect(node, signal, (now) => now.myself.role === 'primary', { everyMs: ASK_AGAIN_MS, push: ask });
  });

/** The old primary must agree, so it must know whom it agrees with. */
async function untilAccepted(
  { myself, nodes }: ClusterFacts,
  findAccepted: typeof askForAccepted,
  signal: AbortSignal,
): Promise<void> {
  const primary = nodes.find(({ id }) => id === myself.primaryId);
  const isAccepted = async () =>
    primary !== undefined && (await findAccepted(primary).catch((): string[] => [])).includes(myself.id);
  while (!(await isAccepted())) await sleep(ACCEPTANCE_POLL_MS, undefined, { signal });
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
