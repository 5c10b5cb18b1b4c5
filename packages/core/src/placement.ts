import type { PodView } from './snapshot.ts';

type Place = Pick<PodView, 'name' | 'ordinal' | 'kubernetesNode' | 'zone'>;

export interface Placed {
  readonly pod: Place;
}

/** A shard to be: its primary first. */
export type PlacedShard<T> = readonly [primary: T, ...replicas: T[]];

/**
 * Shares pods out so that a shard has no two members on one node, nor in one zone, whenever that is possible at all (C1).
 *
 * Sorted by zone, then node, and dealt out like cards to M shards, a run of up to M neighbours lands in different shards.
 * So a node or zone with at most M pods never meets itself, one with more does as rarely as it can, and a node's pods are
 * neighbours within those of its zone: both are served by the same deal.
 */
export function placeShards<T extends Placed>(nodes: readonly T[], shardCount: number): PlacedShard<T>[] {
  const sorted = nodes.toSorted((a, b) => comparePlaces(a.pod, b.pod));
  const hands = Array.from({ length: shardCount }, (_, shard) =>
    sorted.filter((_, card) => card % shardCount === shard),
  );
  const primaries: T[] = [];
  const shards = hands.flatMap((hand): PlacedShard<T>[] => {
    const primary = hand.toSorted((a, b) => crowding(a, primaries) - crowding(b, primaries) || byOrdinal(a, b))[0];
    if (primary === undefined) return [];
    primaries.push(primary);
    return [[primary, ...hand.filter((each) => each !== primary).toSorted(byOrdinal)]];
  });
  return shards.toSorted(([a], [b]) => byOrdinal(a, b));
}

/** How badly a node fits to others: sharing a node is worse than sharing a zone, which is worse than nothing. */
export function crowding(node: Placed, others: readonly Placed[]): number {
  return others.reduce((sum, other) => sum + (other === node ? 0 : closeness(node.pod, other.pod)), 0);
}

/** Zero when no two of them share anything. */
export function crowdingWithin(nodes: readonly Placed[]): number {
  return nodes.reduce((sum, node, index) => sum + crowding(node, nodes.slice(index + 1)), 0);
}

const SAME_NODE = 100;
const SAME_ZONE = 1;

function closeness(a: Place, b: Place): number {
  const sameNode = a.kubernetesNode !== undefined && a.kubernetesNode === b.kubernetesNode;
  const sameZone = a.zone !== undefined && a.zone === b.zone;
  return (sameNode ? SAME_NODE : 0) + (sameZone ? SAME_ZONE : 0);
}

function comparePlaces(a: Place, b: Place): number {
  return compare(a.zone, b.zone) || compare(a.kubernetesNode, b.kubernetesNode) || a.ordinal - b.ordinal;
}

function compare(a = '', b = ''): number {
  return a < b ? -1 : Number(a > b);
}

function byOrdinal(a: Placed, b: Placed): number {
  return a.pod.ordinal - b.pod.ordinal;
}
