import type { ClusterNode } from '@valkey-operator/valkey';
import type { Log } from './log.ts';
import { BECOME_PRIMARY } from './unborn.ts';
import type { ValkeyWatch } from './valkey-watch.ts';

/** Stand-ins are in a handshake, and Valkey drops those that take longer than the node timeout. */
const LONG_MS = 24 * 60 * 60 * 1000;

export interface BirthOptions {
  readonly watch: Pick<ValkeyWatch, 'subscribe' | 'facts' | 'call' | 'refresh'>;
  readonly nodeTimeoutMs: () => Promise<number>;
  readonly log: Log;
}

/**
 * Keeps the stand-ins of an unborn node (unborn.ts) until it has slots or a primary, however long that takes, and then
 * removes what is left of them. One that comes to a cluster where others have the slots becomes the primary that it seems to
 * be: slots may be moved to it, and replicas be told to follow it. Whatever fails is tried again after the next look.
 */
export function awaitBirth({ watch, nodeTimeoutMs, log }: BirthOptions): void {
  let kept = false;
  let busy = false;
  const attempt = (work: Promise<unknown>) => {
    busy = true;
    void work
      .catch((error: unknown) => log.warn('the birth of the node is not seen to', { error }))
      .finally(() => (busy = false));
  };
  const setTimeoutMs = (ms: number) => watch.call('CONFIG', 'SET', 'cluster-node-timeout', String(ms));
  const keep = async () => {
    await setTimeoutMs(LONG_MS);
    kept = true;
  };
  // One whose slots nobody has claimed yet goes by itself: it has been in its handshake for too long.
  const end = async (idle: readonly ClusterNode[]) => {
    await setTimeoutMs(await nodeTimeoutMs());
    kept = false;
    await Promise.all(idle.map(({ id }) => watch.call('CLUSTER', 'FORGET', id)));
  };
  watch.subscribe(() => {
    const { cluster } = watch.facts ?? {};
    if (!cluster) kept = false;
    if (busy || !cluster) return;
    const idle = cluster.standIns.filter(({ slots }) => slots.isEmpty);
    const isLate = cluster.nodes.some(({ myself, slots }) => !myself && !slots.isEmpty);
    if (cluster.unborn && isLate) attempt(watch.call(...BECOME_PRIMARY).then(() => watch.refresh()));
    else if (cluster.unborn && !kept) attempt(keep());
    else if (!cluster.unborn && (kept || idle.length > 0)) attempt(end(idle));
  });
}
