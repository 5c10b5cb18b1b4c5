import type { Log } from './log.ts';
import { BECOME_PRIMARY } from './unborn.ts';
import type { ValkeyWatch } from './valkey-watch.ts';

/**
 * Sees to a node that started unborn (unborn.ts). When it has slots or a primary, its stand-ins are forgotten. When it comes
 * to a cluster where others have the slots, it becomes the primary that it seems to be: slots may be moved to it, and
 * replicas be told to follow it. Whatever fails is tried again after the next look.
 */
export function awaitBirth(watch: Pick<ValkeyWatch, 'subscribe' | 'facts' | 'call' | 'refresh'>, log: Log): void {
  let busy = false;
  const attempt = (work: Promise<unknown>) => {
    busy = true;
    void work
      .catch((error: unknown) => log.warn('the birth of the node is not seen to', { error }))
      .finally(() => (busy = false));
  };
  watch.subscribe(() => {
    const { cluster } = watch.facts ?? {};
    if (busy || !cluster) return;
    const isLate = cluster.nodes.some(({ myself, slots }) => !myself && !slots.isEmpty);
    if (cluster.unborn && isLate) return attempt(watch.call(...BECOME_PRIMARY).then(() => watch.refresh()));
    // One that owns slots goes by itself, when its handshake has taken too long.
    const idle = cluster.unborn ? [] : cluster.standIns.filter(({ slots, noAddress }) => noAddress && slots.isEmpty);
    if (idle.length > 0) attempt(Promise.all(idle.map(({ id }) => watch.call('CLUSTER', 'FORGET', id))));
  });
}
