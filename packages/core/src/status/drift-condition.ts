import type { PlanView } from '../decision.ts';
import type { Drift } from '../drift.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { conditionAge, type ConditionText } from './conditions.ts';

/** What is repaired at once would be seen by nobody: so long it is told all the same. */
const LINGER_MS = 60_000;
const MAX_LENGTH = 4096;

export function describeDrift(snapshot: ClusterSnapshot, drifts: readonly Drift[]): ConditionText {
  if (drifts.length > 0) {
    const message = `${drifts.map((drift) => drift.message).join('; ')}.`.slice(0, MAX_LENGTH);
    const isContested = drifts.some(({ heldMs }) => heldMs !== undefined);
    return { status: true, reason: isContested ? 'DriftContested' : 'DriftRepaired', message };
  }
  const last = lastDrift(snapshot);
  if (last && remainingLinger(snapshot) > 0) return { status: true, reason: 'DriftRepaired', message: last.message };
  return { status: false, reason: 'Healthy', message: 'Everything managed is as the operator made it.' };
}

/** When the condition may have to change although nothing happens. */
export function nextDriftLooks({ snapshot }: PlanView, drifts: readonly Drift[]): number[] {
  const holds = drifts.flatMap(({ heldMs }) => heldMs ?? []);
  if (drifts.length > 0) return [...holds, LINGER_MS];
  const linger = remainingLinger(snapshot);
  return linger > 0 ? [linger] : [];
}

/** What was told last, as long as it is told. */
export function lastDrift({ cluster }: ClusterSnapshot) {
  return cluster.status?.conditions?.find(({ type, status }) => type === 'DriftDetected' && status === 'True');
}

function remainingLinger(snapshot: ClusterSnapshot): number {
  return lastDrift(snapshot) ? LINGER_MS - conditionAge(snapshot, 'DriftDetected', 'True') : 0;
}
