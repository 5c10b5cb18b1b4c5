import type { Decision, PlanView } from '../decision.ts';
import { refuseUnreachable } from '../replicas-for-writes.ts';

/** A cluster that would refuse every write is not made: as long as nobody has slots, a corrected spec costs nothing. */
export function planUnborn({ snapshot, topology }: PlanView): Decision | undefined {
  if (topology.formed || topology.shards.length > 0) return undefined;
  const message = refuseUnreachable(snapshot.spec);
  return message === undefined ? undefined : { reason: 'InvalidSpec', message, held: true };
}
