import { SLOT_COUNT } from '@valkey-operator/valkey';
import type { Expectation } from './expectation.ts';
import { crowding } from './placement.ts';
import type { Member, Shard, Topology } from './topology.ts';

/** Kubernetes takes the highest ordinals away, whatever they are. */
export function isDoomed({ pod }: Member, { wantedPods }: Pick<Expectation, 'wantedPods'>): boolean {
  return pod.ordinal >= wantedPods;
}

/** Pods that stay, and have not said who they are. Those that go are not waited for: they may never start. */
export function findAwaited({ missing, wantedPods }: Pick<Topology, 'missing' | 'wantedPods'>): Topology['missing'] {
  return missing.filter(({ ordinal }) => ordinal < wantedPods);
}

/**
 * Shards that are too many, chosen so that least has to move. One whose pods all go comes first, for it could hand over to
 * nobody; then one that is being emptied already, which keeps the choice the same to the end; then one whose primary would
 * have to hand over, or whose replicas would have to be replaced, because their pods go.
 */
export function chooseLeaving(shards: readonly Shard[], expectation: Expectation, owners: number): Shard[] {
  const surplus = Math.max(0, owners - expectation.wantedShards);
  const share = Math.floor(SLOT_COUNT / Math.max(1, owners));
  const doomed = (members: readonly Member[]) => members.filter((member) => isDoomed(member, expectation)).length;
  const rank = ({ primary, replicas, slots }: Shard) => [
    1 + replicas.length - doomed([primary, ...replicas]) === 0 ? 0 : 1,
    Math.min(slots.count, share),
    -doomed([primary]),
    -doomed(replicas),
    -primary.pod.ordinal,
  ];
  return shards.toSorted((a, b) => compareRanks(rank(a), rank(b))).slice(0, surplus);
}

/**
 * Nodes without slots that become the primaries of new shards: those that have a replica already, which keeps the choice
 * the same to the end; then those that stand furthest from the other primaries.
 */
export function chooseSeeds(
  orphans: readonly Member[],
  shards: readonly Shard[],
  { expectation, missing, followers }: { expectation: Expectation; missing: number; followers: (id: string) => number },
): Member[] {
  const primaries = shards.map(({ primary }) => primary);
  const candidates = orphans.filter(
    (orphan) => !orphan.pod.deletionTimestamp && !isDoomed(orphan, expectation) && !(orphan.report.memory?.keys ?? 0),
  );
  const seeds: Member[] = [];
  while (seeds.length < Math.min(missing, candidates.length)) {
    const rank = (member: Member) => [
      -followers(member.id),
      crowding(member, [...primaries, ...seeds]),
      member.pod.ordinal,
    ];
    const [best] = candidates
      .filter((candidate) => !seeds.includes(candidate))
      .toSorted((a, b) => compareRanks(rank(a), rank(b)));
    if (best === undefined) break;
    seeds.push(best);
  }
  return seeds;
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((value, place) => value !== b[place]);
  return index < 0 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}
