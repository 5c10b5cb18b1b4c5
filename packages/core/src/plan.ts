import { SLOT_COUNT } from '@valkey-operator/valkey';
import type { Plan } from './actions.ts';
import { type Decision, mergeStages, type Planner, type PlanView } from './decision.ts';
import { planBirth } from './planners/birth.ts';
import { planDeletion } from './planners/deletion.ts';
import { planFailover } from './planners/failover.ts';
import { planForget } from './planners/forget.ts';
import { planGates } from './planners/gates.ts';
import { planIntroductions } from './planners/introduce.ts';
import { planLabels } from './planners/labels.ts';
import { planNames } from './planners/names.ts';
import { planReplicas } from './planners/replicas.ts';
import { planLeftoverClaims, planScaleIn } from './planners/scale-in.ts';
import { planSpread } from './planners/spread.ts';
import { planUncovered } from './planners/uncovered.ts';
import { nextRenewal, planCertificates, planUpkeep } from './planners/upkeep.ts';
import type { ClusterSnapshot } from './snapshot.ts';
import { describeDetail } from './status/detail.ts';
import { assessHealth } from './status/health.ts';
import { findPodProblems } from './status/pod-problems.ts';
import { isPaused } from './status/paused.ts';
import { findRoleChanges } from './status/role-changes.ts';
import { summarize } from './status/summary.ts';
import { deriveTopology, FRESH_MS } from './topology.ts';

/** What is wrong, in the order of repair. */
const repairs: readonly Planner[] = [
  planBirth,
  planGates,
  planIntroductions,
  planFailover,
  planUncovered,
  planReplicas,
  planForget,
];

/** What could be better. Looked at only when there is nothing to repair or to wait for. */
const changes: readonly Planner[] = [planScaleIn, planSpread, planLeftoverClaims];

/** Timers are a backstop: what ends a wait is an event. */
const BACKSTOP_MS = 10_000;

/** Everything the operator does about a cluster, from everything it knows of it. */
export function planCluster(snapshot: ClusterSnapshot): Plan {
  const view: PlanView = { snapshot, topology: deriveTopology(snapshot) };
  const deletion = planDeletion(view);
  if (deletion) return conclude(view, deletion, deletion.stages);
  const conflict = planNames(view);
  if (conflict) return conclude(view, conflict);

  const decision = decide(view);
  if (isPaused(snapshot)) return conclude(view, decision, planCertificates(snapshot));
  const upkeep = planUpkeep(view, decision);
  const stages = [...mergeStages(decision?.stages ?? [], upkeep.stages), planLabels(view)];
  const drifts = upkeep.drifts.map((message) => ({ reason: 'DriftRepaired', message }) as const);
  return conclude(view, decision, stages, drifts);
}

/** The first that acts; else the first that waits. Whoever waits stands in the way of changes, not of other repairs. */
function decide(view: PlanView): Decision | undefined {
  const found = repairs.map((plan) => plan(view)).filter((decision) => decision !== undefined);
  const chosen = found.find(({ stages }) => stages && stages.length > 0) ?? found[0] ?? settle(view);
  return chosen ?? changes.map((plan) => plan(view)).find((decision) => decision !== undefined);
}

/** Nothing is left to do, but not everything is there yet. */
function settle(view: PlanView): Decision | undefined {
  return assessHealth(view).shortcomings[0];
}

function conclude(
  view: PlanView,
  decision: Decision | undefined,
  stages: Plan['stages'] = [],
  events: Plan['events'] = [],
): Plan {
  const health = assessHealth(view);
  const isFormedNow = !view.topology.formed && health.servedSlots === SLOT_COUNT;
  const status = summarize(view, { health, problems: findPodProblems(view), decision });
  return {
    stages: stages.filter((stage) => stage.length > 0),
    status,
    detail: { ...describeDetail(view), ...(status.phase && { phase: status.phase }) },
    events: [
      ...events,
      ...findRoleChanges(view),
      ...(decision?.events ?? []),
      ...(decision?.held ? [{ reason: decision.reason, message: decision.message }] : []),
      ...(isFormedNow ? [{ reason: 'ClusterFormed', message: `All ${SLOT_COUNT} slots are served.` } as const] : []),
    ],
    stayConnected: decision !== undefined,
    wakeAfterMs: nextLook(view, decision),
  };
}

/** When something may have become different without anybody telling. */
function nextLook(view: PlanView, decision: Decision | undefined): number {
  const renewal = nextRenewal(view) ?? FRESH_MS;
  return Math.min(decision ? (decision.wakeAfterMs ?? BACKSTOP_MS) : FRESH_MS, renewal);
}
