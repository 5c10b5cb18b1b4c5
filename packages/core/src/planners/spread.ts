import type { Decision, PlanView } from '../decision.ts';
import { crowdingWithin } from '../placement.ts';
import type { Member, Shard } from '../topology.ts';
import { attach } from './replicas.ts';

/**
 * Two shards that could both stand further apart by exchanging replicas. One replica moves; the shard it left then lacks
 * one, and the repair of that picks the other, because it fits best there. Only when all is well: for the time of a sync a
 * shard has one replica less.
 */
export function planSpread({ topology }: PlanView): Decision | undefined {
  const { shards, observedPods, wantedPods } = topology;
  if (observedPods !== wantedPods) return undefined;
  const crowded = shards.filter((shard) => crowdingWithin([shard.primary, ...shard.replicas]) > 0);
  const swaps = crowded.flatMap((shard) => shards.flatMap((other) => findSwaps(shard, other)));
  const [best] = swaps.toSorted((a, b) => b.gain - a.gain || a.replica.pod.ordinal - b.replica.pod.ordinal);
  if (best === undefined) return undefined;
  const decision = attach([{ replica: best.replica, primary: best.target }]);
  return { ...decision, message: `Replicas are spread better over nodes and zones: ${decision.message}` };
}

function findSwaps(shard: Shard, other: Shard): { gain: number; replica: Member; target: Member }[] {
  if (shard === other) return [];
  const now = crowdingWithin([shard.primary, ...shard.replicas]) + crowdingWithin([other.primary, ...other.replicas]);
  return shard.replicas.flatMap((replica) =>
    other.replicas.flatMap((partner) => {
      const swapped = (crew: Shard, out: Member, into: Member) =>
        crowdingWithin([crew.primary, ...crew.replicas.map((each) => (each === out ? into : each))]);
      const gain = now - swapped(shard, replica, partner) - swapped(other, partner, replica);
      return gain > 0 ? [{ gain, replica, target: other.primary }] : [];
    }),
  );
}
