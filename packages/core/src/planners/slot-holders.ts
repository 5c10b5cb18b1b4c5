import { SlotSet } from '@valkey-operator/valkey';
import type { NodeAction, NodeGuard } from '../actions.ts';
import { type Decision, order } from '../decision.ts';
import { hasKeys, type Member } from '../topology.ts';

/** A primary that has keys of slots that are not its own. */
export interface Holding {
  readonly member: Member;
  readonly slots: SlotSet;
}

/**
 * Slots without an owner may still have keys: with the one that owned them last, or with a replica that took over before it had
 * heard of the slot. Whoever gets them must be that one. Nobody may get them before all who could have some have looked: these
 * are the orders to do so. Of two that have keys of a slot, the one whose word counts among Valkey nodes.
 */
export function findHolders(
  members: readonly Member[],
  slots: SlotSet,
): { readonly searches: NodeAction[]; readonly holdings: Holding[] } {
  // Also those without a key: to look makes each tell anew what it owns.
  const candidates = members.some(hasKeys) ? members.filter(({ cluster }) => cluster.role === 'primary') : [];
  const unsearched = candidates.filter(({ cluster }) => !slots.difference(parse(cluster.search?.slots)).isEmpty);
  const searches = unsearched.map((member) =>
    order(member, { do: 'searchSlots', slots: slots.toString() }, 'SlotsUncovered', { role: 'primary' }),
  );
  let rest = slots;
  const holdings = candidates
    .toSorted((a, b) => b.cluster.configEpoch - a.cluster.configEpoch || a.pod.ordinal - b.pod.ordinal)
    .map((member) => {
      const held = parse(member.cluster.search?.withKeys).intersection(rest);
      rest = rest.difference(held);
      return { member, slots: held };
    });
  return { searches, holdings: holdings.filter((holding) => !holding.slots.isEmpty) };
}

/** Slots that nobody claims, to this node. Its own table may name somebody who says otherwise; those who are gone it forgets before. */
export function assign({ member, slots }: Holding, gone: readonly { readonly id: string }[] = []): NodeAction {
  const believed = [...member.known.values()]
    .filter(({ id }) => id !== member.id && gone.every((node) => node.id !== id))
    .map(({ id, slots: own }) => ({ nodeId: id, slots: parse(own).intersection(slots) }))
    .filter((owner) => !owner.slots.isEmpty);
  const free = believed.reduce((left, owner) => left.difference(owner.slots), slots);
  const slotOwners = [{ nodeId: '', slots: free }, ...believed]
    .filter((owner) => !owner.slots.isEmpty)
    .map((owner) => ({ nodeId: owner.nodeId, slots: owner.slots.toString() }));
  const guard: Partial<NodeGuard> = { role: 'primary', slotOwners };
  return order(member, { do: 'addSlots', slots: slots.toString() }, 'SlotsUncovered', guard);
}

/** Nobody gets them before that is known. */
export function search(searches: readonly NodeAction[], slots: SlotSet): Decision {
  const message = `Slots ${slots.toString()} have no primary. They get one when it is known who has their keys.`;
  return { reason: 'SlotsUncovered', message, stages: [searches], wakeAfterMs: 1000 };
}

export function unite(parts: readonly { readonly slots: SlotSet }[]): SlotSet {
  return parts.reduce((all, { slots }) => all.union(slots), SlotSet.empty);
}

function parse(slots = ''): SlotSet {
  return SlotSet.parse(slots);
}
