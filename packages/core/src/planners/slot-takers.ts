import type { SlotMove } from '@valkey-operator/valkey';
import { listNames } from '../status/list-names.ts';
import { isInSync, type Member, type Topology } from '../topology.ts';

/**
 * What keeps a primary from getting slots now. A replica may take over from a primary that the others miss, and could not
 * bring what that one gets from now on; nor could a replica that has none of its data. One without replicas depends on itself.
 */
export function whyNotYet({ members }: Topology, target: Member): string | undefined {
  const doubters = members.filter(({ known }) => known.get(target.id)?.flags.some((flag) => flag.startsWith('fail')));
  if (doubters.length > 0) return `${listNames(doubters.map(({ pod }) => pod.name))} takes it for failed`;
  const replicas = members.filter(({ cluster }) => cluster.role === 'replica' && cluster.primaryId === target.id);
  if (replicas.length === 0 || replicas.some(isInSync)) return undefined;
  return `${listNames(replicas.map(({ pod }) => pod.name))} has not got its data yet`;
}

/** Of the targets of these moves, the ones that have to wait, in words. */
export function describeWaiting(topology: Topology, moves: readonly SlotMove[]): string {
  const targets = topology.members.filter(({ id }) => moves.some(({ to }) => to === id));
  return targets
    .map((target) => ({ name: target.pod.name, why: whyNotYet(topology, target) }))
    .filter(({ why }) => why !== undefined)
    .map(({ name, why }) => ` ${name} gets no slots as long as ${why}.`)
    .join('');
}
