import { ports } from '@valkey-operator/api';
import { SlotSet } from '@valkey-operator/valkey';
import type { NodeAction } from '../actions.ts';
import { type Decision, order, type PlanView, stagesOf } from '../decision.ts';
import { listNames } from '../status/list-names.ts';
import type { Member, Topology } from '../topology.ts';
import { forgetEverywhere } from './forget.ts';

/**
 * Brings together members that do not know each other, or not under their present address: after birth, after a lost
 * nodes.conf, after all pods came back with new addresses (fault 13). One node that is introduced to everybody is enough,
 * the rest is gossip.
 */
export function planIntroductions({ topology }: PlanView): Decision | undefined {
  const hub = chooseHub(topology);
  if (hub === undefined || topology.members.length < 2) return undefined;
  const others = topology.members.filter(
    (member) => member !== hub && !member.pod.deletionTimestamp && !isDisguised(member),
  );
  const strangers = others.filter((member) => !knows(hub, member));
  const estranged = others.filter((member) => knows(hub, member) && !member.known.has(hub.id));
  const rivals = findRivals(topology, strangers);
  const blocked = rivals.filter(({ provenGone, replicas }) => !provenGone || replicas.length > 0);
  const welcome = strangers.filter(({ slots }) => blocked.every((rival) => rival.claimed.intersection(slots).isEmpty));
  if (welcome.length + estranged.length === 0) return undefined;

  const names = [...welcome, ...estranged].map(({ pod }) => pod.name);
  return {
    reason: 'NodeUnreachable',
    message: `${listNames(names)} and ${hub.pod.name} do not know each other by their present addresses and are being introduced.`,
    stages: stagesOf(
      forgetEverywhere(rivals.filter((rival) => !blocked.includes(rival))),
      acquaint(hub, [...welcome, ...estranged]),
    ),
  };
}

/**
 * A primary that lost its nodes.conf, but not its data, comes back under a new id and claims its slots anew, with no epoch
 * to show for it. The others still hold its former id for the owner; by its later epoch that would win, and the node
 * would throw its keys away. So the former id is replaced by its replica, or forgotten where it has none, before they meet.
 */
function findRivals({ silent }: Topology, strangers: readonly Member[]) {
  const isOutranked = ({ slots, cluster }: Member) => !slots.isEmpty && cluster.configEpoch === 0;
  const claims = strangers.filter(isOutranked).reduce((all, { slots }) => all.union(slots), SlotSet.empty);
  return silent.filter(({ claimed, seenAlive }) => !seenAlive && !claimed.intersection(claims).isEmpty);
}

/** Orders after which a node and the others know each other; none where they do. */
export function acquaint(member: Member, others: readonly Member[]): NodeAction[] {
  const strangers = others.filter((other) => !knows(member, other));
  const estranged = others.filter((other) => knows(member, other) && !other.known.has(member.id));
  return [...introduce(member, strangers), ...estranged.flatMap((other) => introduce(other, [member]))];
}

/** One command: done when each peer is known by its id and its link is up. */
export function introduce(member: Member, peers: readonly Member[]): NodeAction[] {
  const addresses = peers.flatMap(({ id, pod }) =>
    pod.ip === undefined ? [] : [{ nodeId: id, ip: pod.ip, port: ports.valkey, busPort: ports.valkeyBus }],
  );
  return addresses.length > 0 ? [order(member, { do: 'meet', peers: addresses }, 'NodeUnreachable')] : [];
}

/**
 * Whether a link is there or will come about by itself. Valkey calls a link connected from its first attempt on, so one to an
 * address that the pod no longer has proves nothing.
 */
export function knows(member: Member, peer: Member): boolean {
  const line = member.known.get(peer.id);
  if (line === undefined || line.flags.includes('noaddr') || line.flags.includes('handshake')) return false;
  const hasMoved = peer.pod.ip !== undefined && line.ip !== peer.pod.ip;
  return !hasMoved && (line.linkConnected || !line.flags.includes('fail'));
}

/** The node that knows the cluster best: a primary with slots, and of these the one with most working links. */
function chooseHub({ shards }: Topology): Member | undefined {
  const links = ({ cluster }: Member) => cluster.nodes.filter(({ linkConnected }) => linkConnected).length;
  const primaries = shards
    .map(({ primary }) => primary)
    .filter((primary) => !primary.pod.deletionTimestamp && !isDisguised(primary));
  return primaries.toSorted((a, b) => links(b) - links(a) || a.pod.ordinal - b.pod.ordinal)[0];
}

/** By CONFIG SET somebody has made it announce another address: whom it is introduced to, it tells that. */
function isDisguised({ report }: Member): boolean {
  return (report.config.drift ?? []).some(({ name }) => /^cluster-announce-(ip|port|bus-port)$/.test(name));
}
