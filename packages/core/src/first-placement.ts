import { assignNewcomers } from './assignment.ts';
import { crowding, crowdingWithin, type Placed, type PlacedShard, placeShards } from './placement.ts';
import type { PodView } from './snapshot.ts';
import type { Member, Topology } from './topology.ts';

export interface FirstShard {
  readonly primary: Member;
  readonly replicas: readonly Member[];
}

/**
 * The shards that a cluster is born with, as far as their members have started; none while it is better to wait. Pods that are
 * yet to start have their places in it. So that the slots need not wait for the last of them, those that started first
 * become primaries, unless the members of a shard, or the primaries, would stand closer together then than they have to (C1).
 */
export function placeFirstShards(
  pods: readonly PodView[],
  { members, wantedPods, shardCount, allKnown }: Topology,
): FirstShard[] {
  const nodes = pods
    .filter(({ ordinal }) => ordinal < wantedPods)
    .map((pod): Placed => members.find((member) => member.pod === pod) ?? { pod });
  const best = placeShards(nodes, shardCount);
  const soonest = placeSeniors(nodes, shardCount);
  const isGood = soonest.length === shardCount && crowdingOf(soonest) <= crowdingOf(best);
  const isSooner = isGood && (!allKnown || lastStart(soonest) < lastStart(best));
  return (isSooner ? soonest : allKnown ? best : []).flatMap(([primary, ...rest]) =>
    isMember(primary) ? [{ primary, replicas: rest.filter(isMember) }] : [],
  );
}

function placeSeniors(nodes: readonly Placed[], shardCount: number): PlacedShard<Placed>[] {
  const primaries: Member[] = [];
  const started = nodes.filter(isMember);
  while (primaries.length < shardCount && started.length > 0) {
    started.sort((a, b) => crowding(a, primaries) - crowding(b, primaries) || startOf(a) - startOf(b));
    primaries.push(...started.splice(0, 1));
  }
  primaries.sort((a, b) => a.pod.ordinal - b.pod.ordinal);
  const others = nodes.filter((node) => !isMember(node) || !primaries.includes(node));
  const crews = primaries.map((primary) => [primary]);
  return assignNewcomers(others, crews).map((recruits, shard) => [primaries[shard]!, ...recruits]);
}

/** Of the members of a shard to each other, and of the primaries. */
function crowdingOf(shards: readonly PlacedShard<Placed>[]): number {
  return [...shards, primariesOf(shards)].reduce((sum, group) => sum + crowdingWithin(group), 0);
}

function lastStart(shards: readonly PlacedShard<Placed>[]): number {
  return Math.max(...primariesOf(shards).filter(isMember).map(startOf));
}

function primariesOf(shards: readonly PlacedShard<Placed>[]): Placed[] {
  return shards.map(([primary]) => primary);
}

function startOf({ report }: Member): number {
  return report.process.startedAt ?? 0;
}

function isMember(node: Placed): node is Member {
  return 'report' in node;
}
