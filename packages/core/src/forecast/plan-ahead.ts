import type { Plan as StatusPlan } from '@valkey-operator/api';
import type { Plan } from '../actions.ts';
import { planCluster } from '../plan.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { isPaused } from '../status/paused.ts';
import { isOpen } from '../upgrade/upgrades.ts';
import { asksForTheSame, findBasis } from './basis.ts';
import { forecastInSteps, runToEnd, type Steps } from './forecast.ts';

/** What the schema of the status has room for. */
const MAX_STEPS = 128;
const MAX_BLOCKS = 16;
/** The forecast of a larger one takes more work than it is worth, and steps that are too long; whoever wants it can call it. */
const MAX_PODS = 100;

/** Answers with what would be done, or with nothing as long as it is not known; a new basis asks for a new answer. */
export type Foresee = (snapshot: ClusterSnapshot, basis: string) => StatusPlan | undefined;

/** As planCluster, and where something waits and nothing runs, with what it would do. */
export function planAhead(
  snapshot: ClusterSnapshot,
  foresee: Foresee = (seen) => runToEnd(foreseeInSteps(seen)),
): Plan {
  const plan = planCluster(snapshot);
  const { orchestration, pendingOrchestrations = [] } = plan.status;
  // An upgrade waits for a paused cluster before it is an operation.
  const isQueued = isPaused(snapshot) && plan.upgrades?.some(isOpen) === true;
  const isWaiting = orchestration === undefined && (pendingOrchestrations.length > 0 || isQueued);
  if (!isWaiting || snapshot.pods.length > MAX_PODS) return plan;
  const basis = findBasis(snapshot);
  const before = snapshot.cluster.status?.plan;
  const isKept = before?.basis !== undefined && asksForTheSame(before.basis, basis);
  const foreseen = (before?.basis === basis ? before : foresee(snapshot, basis)) ?? (isKept ? before : undefined);
  if (!foreseen) return plan;
  const waitsFor = plan.status.conditions?.find(({ type }) => type === 'Progressing')?.message.slice(0, 512);
  return { ...plan, status: { ...plan.status, plan: { ...foreseen, ...(waitsFor && { waitsFor }) } } };
}

/** The forecast, as the status has room for it. */
export function* foreseeInSteps(snapshot: ClusterSnapshot): Steps<StatusPlan> {
  const forecast = yield* forecastInSteps(snapshot);
  const { steps, pods, failovers, slotsMoved, keysMoved, disruptive, blockedBy } = forecast;
  const shown = steps.slice(0, MAX_STEPS - 1).map((step) => step.slice(0, 512));
  return {
    steps: steps.length > MAX_STEPS ? [...shown, `and ${steps.length - shown.length} more`] : [...steps],
    pods: [...pods],
    podsTouched: pods.length,
    failovers,
    slotsMoved,
    keysMoved,
    disruptive,
    basis: findBasis(snapshot),
    ...(blockedBy.length > 0 && { blockedBy: blockedBy.slice(0, MAX_BLOCKS).map((block) => block.slice(0, 1024)) }),
  };
}
