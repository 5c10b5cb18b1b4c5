import { SlotSet } from '@valkey-operator/valkey';
import type { KnownNodeView } from './snapshot.ts';
import type { Member } from './topology.ts';

/**
 * So long after a move the word of its source counts for who has the slots, should their new owner not have told of them. By
 * then it has: a slot that it still does not call its own has been lost between the two, and needs an owner.
 */
const GIVEN_MS = 10_000;

/**
 * Who owns what. A member's own word counts before what others say of silent nodes, and of two that claim a slot the one
 * with the later configuration epoch has it, as among Valkey nodes. Epoch 0 is no decision of the cluster but a node's own
 * idea, such as that of one that has found keys without an owner: it counts last.
 */
export function resolveOwners(members: readonly Member[], now: number): Map<string, SlotSet> {
  const own = members
    .filter(({ cluster }) => cluster.role === 'primary')
    .map(({ id, slots, cluster }) => ({ id, slots, epoch: cluster.configEpoch }));
  const memberIds = new Set(members.map(({ id }) => id));
  const told = members
    .flatMap(({ cluster }) => cluster.nodes)
    .filter(({ id, slots }) => slots !== '' && !memberIds.has(id))
    .map(toClaim);
  // Those to whom a source has moved slots may not have told so yet, and it may be at work for the next of them.
  const given = members.flatMap(({ cluster, report: { move, receivedAt } }) => {
    const isNews = ({ id, configEpoch }: KnownNodeView) => {
      const target = members.find((member) => member.id === id);
      return target && (target.report.receivedAt < receivedAt || target.cluster.configEpoch < configEpoch);
    };
    const isRecent = move?.state === 'running' || (move?.overForMs ?? 0) + now - receivedAt <= GIVEN_MS;
    return move && isRecent ? cluster.nodes.filter(isNews).map(toClaim) : [];
  });
  const decided = own.filter(({ epoch }) => epoch > 0);
  const assumed = own.filter(({ epoch }) => epoch === 0);

  const owners = new Map<string, SlotSet>();
  let taken = SlotSet.empty;
  for (const claims of [decided, told, assumed, given]) {
    for (const { id, slots } of claims.toSorted((a, b) => b.epoch - a.epoch || (a.id < b.id ? -1 : 1))) {
      const free = slots.difference(taken);
      if (free.isEmpty) continue;
      owners.set(id, slotsOf(owners, id).union(free));
      taken = taken.union(free);
    }
  }
  return owners;
}

function toClaim({ id, slots, configEpoch }: KnownNodeView) {
  return { id, slots: SlotSet.parse(slots), epoch: configEpoch };
}

export function slotsOf(owners: ReadonlyMap<string, SlotSet>, id: string): SlotSet {
  return owners.get(id) ?? SlotSet.empty;
}
