import { setTimeout as sleep } from 'node:timers/promises';
import { FailoverMode } from '@valkey-operator/rpc';
import { done } from '@valkey-operator/rpc/sidecar';
import type { Info } from '@valkey-operator/valkey';
import { askOffset } from '../ask-node.ts';
import { isElectable } from '../electable.ts';
import { LAG_BYTES } from '../replica-lag.ts';
import type { ClusterFacts, ValkeyFacts } from '../valkey-facts.ts';
import { handler, InvalidCommandError, lookAtCluster, waitForEffect, type Node } from './effect.ts';

// Valkey gives up a coordinated failover after 5 s, in which nobody writes; then it may be asked again, if that would come off.
const ASK_AGAIN_MS = 6000;
const ELECTABLE_POLL_MS = 50;
/** A small copy is written down by then, and the stream flows. For a large one, or what is still on its way, nobody should wait. */
const PATIENCE_MS = 3000;

interface Others {
  readonly isElectable: typeof isElectable;
  readonly askOffset: typeof askOffset;
}

export const failover = (node: Node, others: Others = { isElectable, askOffset }) =>
  handler<'failover'>(async ({ mode }, { signal }) => {
    const words = wordsOf(mode);
    const { myself } = await lookAtCluster(node);
    if (myself.role === 'primary') return done({ unchanged: true });
    const patientUntil = Date.now() + PATIENCE_MS;
    const ask = async () => {
      const isForced = mode !== FailoverMode.COORDINATED;
      if (isForced || (await whenItComesOff(node, others, { patientUntil, signal })) === 'ready')
        await node.call('CLUSTER', 'FAILOVER', ...words);
    };
    await ask();
    await waitForEffect(node, signal, (now) => now.myself.role === 'primary', { everyMs: ASK_AGAIN_MS, push: ask });
  });

/**
 * Others may need seconds to hear of this node. Meanwhile its link may be lost and come back by another copy of all data, for
 * which writes would wait: so the link is looked at last, after them. A replica that has just got its copy writes it down by a
 * child process, which takes the processor time that the failover needs, of this node and of its neighbours. And a primary
 * sends nothing after a copy until the replica says the next time how far it is, once a second: asked before, it would stop
 * writes and wait for that.
 */
async function whenItComesOff(
  node: Node,
  others: Others,
  { patientUntil, signal }: { readonly patientUntil: number; readonly signal: AbortSignal },
): Promise<'ready' | 'already primary'> {
  for (;;) {
    const { cluster } = await node.refresh();
    if (cluster?.myself.role === 'primary') return 'already primary';
    if (cluster && (await others.isElectable(cluster.myself, cluster.nodes))) {
      const sent = await offsetOfPrimary(cluster, others);
      const now = await node.refresh();
      const lag = sent - (now.info.replication?.offset ?? 0);
      const isReady = !isWriting(now.info) && lag <= 0;
      const isGoodEnough = lag < LAG_BYTES && Date.now() > patientUntil;
      if (isInStep(now) && (isReady || isGoodEnough)) return 'ready';
    }
    await sleep(ELECTABLE_POLL_MS, undefined, { signal });
  }
}

/** Whoever does not tell keeps nobody waiting. */
async function offsetOfPrimary({ myself, nodes }: ClusterFacts, { askOffset: ask }: Others): Promise<number> {
  const primary = nodes.find(({ id }) => id === myself.primaryId);
  return (primary && (await ask(primary).catch(() => undefined))) ?? 0;
}

function isInStep({ cluster, info }: ValkeyFacts): boolean {
  const link = info.replication?.primary;
  return cluster !== undefined && link?.up === true && !link.syncInProgress;
}

function isWriting({ persistence }: Info): boolean {
  return persistence !== undefined && (persistence.aofRewriteInProgress || persistence.rdbSaveInProgress);
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
