import { setTimeout as sleep } from 'node:timers/promises';
import type { SettingsInEffect } from '../settings-in-effect.ts';
import type { ClusterFacts } from '../valkey-facts.ts';
import { lookAtCluster, type Node } from './effect.ts';

/** Who has to know that it is not somebody else who sets something. */
export type OwnChanges = Pick<SettingsInEffect, 'beginOwnChange'>;

/** Valkey waits no shorter than this, whatever the node timeout is. */
const SHORTEST_MS = 500;
const PATIENCE_MS = 2000;
const POLL_MS = 50;

/**
 * By Valkey's count a node that knows nobody with slots is in a minority, and a primary that was in one serves only a node
 * timeout later (5 s at most), because it may have missed a failover. One that is born late (unborn.ts) cannot have missed
 * anything: while it gets its first slots, and until it serves, its node timeout is as short as can be. Nobody waits for
 * that: whom it meets meanwhile it suspects too soon, at worst, and alone. Should the sidecar die, or lose its connection,
 * the timeout is set again with the next one.
 */
export async function withShortRejoin(
  node: Pick<Node, 'call' | 'refresh'>,
  { nodeTimeoutMs, settings }: { readonly nodeTimeoutMs: number; readonly settings: OwnChanges },
  giveSlots: () => Promise<void>,
): Promise<void> {
  const setTimeoutMs = (ms: number) => node.call('CONFIG', 'SET', 'cluster-node-timeout', String(ms));
  const end = settings.beginOwnChange();
  const restore = () => setTimeoutMs(nodeTimeoutMs).finally(end);
  try {
    await setTimeoutMs(Math.min(SHORTEST_MS, nodeTimeoutMs));
    await giveSlots();
  } catch (error) {
    await restore();
    throw error;
  }
  untilItServes(node)
    .then(restore, restore)
    .catch(() => undefined);
}

async function untilItServes(node: Pick<Node, 'call' | 'refresh'>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while ((await lookAtCluster(node)).info.state !== 'ok' && Date.now() < deadline) await sleep(POLL_MS);
}

/** It has waited for its first slots for so long that the stand-in which it agreed with is gone. */
export function isKeptWaiting({ unborn, standIns }: ClusterFacts): boolean {
  return unborn && standIns.every(({ slots }) => slots.isEmpty);
}
