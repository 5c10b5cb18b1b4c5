import type { Decision, PlanView } from '../decision.ts';
import { crowdingWithin } from '../placement.ts';
import { listHeirs, orderHandover } from './hand-over.ts';
import { findRunningMoves } from './slot-moves.ts';

/**
 * Primaries that have gathered on few nodes or zones, as a roll or a failover leaves them: whose loss would stop more of the
 * cluster than it has to. Only where the spec asks for it, when all is well and no slot is on its way, and one handover at a
 * time; each makes it better, so this ends.
 */
export function planBalance({ snapshot, topology }: PlanView): Decision | undefined {
  const { shards, allKnown, observedPods, wantedPods } = topology;
  if (!snapshot.spec.rebalancePrimaries || observedPods !== wantedPods) return undefined;
  if (findRunningMoves(topology).length > 0) return undefined;
  const primaries = shards.map(({ primary }) => primary);
  const now = crowdingWithin(primaries);
  const handovers = shards.flatMap(({ primary, replicas }) =>
    listHeirs(primary, replicas).map((heir) => {
      const gain = now - crowdingWithin(primaries.map((each) => (each === primary ? heir : each)));
      return { primary, heir, gain };
    }),
  );
  const [best] = handovers.toSorted((a, b) => b.gain - a.gain || a.heir.pod.ordinal - b.heir.pod.ordinal);
  if (best === undefined || best.gain <= 0) return undefined;
  const message = `${best.heir.pod.name} takes over from ${best.primary.pod.name}: primaries are spread better over nodes and zones.`;
  const handover = { ...orderHandover(best.primary, best.heir, message), kind: 'Failover' } as const;
  // Commands go through sessions; the plan asks for them, and the next look finds them open.
  return allKnown ? handover : { ...handover, stages: [], events: [] };
}
