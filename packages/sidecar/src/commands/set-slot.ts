import { done } from '@valkey-operator/rpc/sidecar';
import type { ClusterFacts } from '../valkey-facts.ts';
import { handler, InvalidCommandError, lookAtCluster, type Node } from './effect.ts';

export const setSlot = (node: Node) =>
  handler<'setSlot'>(async ({ slot, action }) => {
    const cluster = await lookAtCluster(node);
    const open = cluster.myself.openSlots.find((each) => each.slot === slot);
    const set = (...words: string[]) => node.call('CLUSTER', 'SETSLOT', String(slot), ...words).then(() => undefined);
    switch (action.case) {
      case 'importingFrom':
        if (open?.direction === 'importing' && open.peer === action.value) return done({ unchanged: true });
        return set('IMPORTING', action.value);
      case 'migratingTo':
        if (open?.direction === 'migrating' && open.peer === action.value) return done({ unchanged: true });
        return set('MIGRATING', action.value);
      case 'owner':
        if (!open && ownerOf(cluster, slot) === action.value) return done({ unchanged: true });
        return set('NODE', action.value);
      case 'stable':
        return open ? set('STABLE') : done({ unchanged: true });
      case undefined:
        throw new InvalidCommandError('setSlot needs an action');
    }
  });

function ownerOf({ nodes }: ClusterFacts, slot: number): string | undefined {
  return nodes.find(({ slots }) => slots.has(slot))?.id;
}
