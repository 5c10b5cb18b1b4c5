import { SLOT_COUNT } from '@valkey-operator/valkey';
import type { Plan } from './actions.ts';
import { type Decision, mergeStages, type Planner, type PlanView } from './decision.ts';
import { readCancellations } from './orchestration/cancellation.ts';
import { chooseCourse, type Course, setAside } from './orchestration/course.ts';
import { listEnded } from './orchestration/ended.ts';
import { writeLog } from './orchestration/log.ts';
import { tellStory } from './orchestration/story.ts';
import { planBirth } from './planners/birth.ts';
import { planRefusedConfig, planSettingDrift } from './planners/config.ts';
import { planDeadWindows } from './planners/dead-windows.ts';
import { planDeletion } from './planners/deletion.ts';
import { planFailover } from './planners/failover.ts';
import { planForget } from './planners/forget.ts';
import { planGates } from './planners/gates.ts';
import { planRefusedImage } from './planners/image-trial.ts';
import { planIntroductions } from './planners/introduce.ts';
import { planLabels } from './planners/labels.ts';
import { planLostSettings } from './planners/lost-settings.ts';
import { planSettings } from './planners/make-room.ts';
import { planNames } from './planners/names.ts';
import { planOpenSlots } from './planners/open-slots.ts';
import { planReplicas } from './planners/replicas.ts';
import { planReplaceBroken, planRolledBack, planRollFailure } from './planners/roll-failure.ts';
import { planUnreadablePause } from './planners/pause.ts';
import { planUnreadableRestart } from './planners/restart-at.ts';
import { planRoll } from './planners/roll.ts';
import { planBalance } from './planners/balance.ts';
import { planLeftoverClaims } from './planners/scale-crews.ts';
import { planGrowth, planScale } from './planners/scale.ts';
import { planSpread } from './planners/spread.ts';
import { planUncovered } from './planners/uncovered.ts';
import { planVolumes } from './planners/volumes.ts';
import { nextRenewal, planCertificates, planUpkeep, type Upkeep } from './planners/upkeep.ts';
import { findRestartToCome } from './roll/restart-at.ts';
import { deriveRoll } from './roll/roll.ts';
import { findAwaited } from './shard-roles.ts';
import type { ClusterSnapshot } from './snapshot.ts';
import { describeDetail } from './status/detail.ts';
import { findExporterProblem } from './status/exporter.ts';
import { assessHealth, assessToldHealth } from './status/health.ts';
import { describeHostNamesOnly } from './status/host-names-only.ts';
import { findNodeDrift } from './status/node-drift.ts';
import { nextDriftLooks } from './status/drift-condition.ts';
import { findPodProblems } from './status/pod-problems.ts';
import { planUnborn } from './planners/unborn.ts';
import { findNotableKeys } from './status/notable-keys.ts';
import { isPaused } from './status/paused.ts';
import { describeRefused } from './status/refused-children.ts';
import { findRoleChanges } from './status/role-changes.ts';
import { summarize } from './status/summary.ts';
import { CONTRADICTED_MS, deriveTopology, FRESH_MS, isContradicted } from './topology.ts';
import { followUpgrades } from './upgrade/upgrades.ts';

/** What is wrong, in the order of repair. */
const repairs: readonly Planner[] = [
  planRollFailure,
  planReplaceBroken,
  planBirth,
  planGates,
  planIntroductions,
  planFailover,
  planUncovered,
  planReplicas,
  planForget,
  planOpenSlots,
  planSettingDrift,
];

/** What could be better. Done only when there is nothing to repair or to wait for, one after the other. */
const changes: readonly Planner[] = [
  planGrowth,
  planSettings,
  planRoll,
  planScale,
  planSpread,
  planBalance,
  planLeftoverClaims,
  planVolumes,
];

/** What only a person can set right, and that stands in the way of nothing else. */
const remarks: readonly Planner[] = [
  planLostSettings,
  planRefusedConfig,
  planRefusedImage,
  planRolledBack,
  planDeadWindows,
  planUnreadableRestart,
  planUnreadablePause,
];

/** Timers are a backstop: what ends a wait is an event. */
const BACKSTOP_MS = 10_000;

/** Everything the operator does about a cluster, from everything it knows of it. */
export function planCluster(snapshot: ClusterSnapshot): Plan {
  const view: PlanView = { snapshot, topology: deriveTopology(snapshot), roll: deriveRoll(snapshot) };
  const deletion = planDeletion(view);
  if (deletion) return conclude(view, endAll(view, deletion), deletion.stages);
  const conflict = planNames(view) ?? planUnborn(view);
  if (conflict) return conclude(view, setAside(view, conflict));

  const course = chooseCourse(view, findRepair(view), findChanges(view));
  const { decision } = course;
  if (isPaused(snapshot))
    return conclude(view, course, mergeStages(decision?.stages ?? [], planCertificates(snapshot)));
  const upkeep = planUpkeep(view, decision);
  const stages = [...mergeStages(decision?.stages ?? [], upkeep.stages), planLabels(view), upkeep.retries];
  return conclude(view, course, stages, { ...upkeep, drifts: [...upkeep.drifts, ...findNodeDrift(view)] });
}

/** The first that acts; else the first that waits. Whoever waits stands in the way of changes, not of other repairs. */
function findRepair(view: PlanView): Decision | undefined {
  const found = repairs.map((plan) => plan(view)).filter((decision) => decision !== undefined);
  return found.find(({ stages }) => stages && stages.length > 0) ?? found[0] ?? settle(view);
}

function findChanges(view: PlanView): Decision[] {
  if (!view.topology.formed) return [];
  const told = remarks.map((plan) => plan(view)).flatMap((decision) => (decision ? { ...decision, remark: true } : []));
  return [...changes.map((plan) => plan(view)).filter((decision) => decision !== undefined), ...told];
}

function endAll({ snapshot }: PlanView, decision: Decision): Course {
  return { decision, pending: [], cancelled: readCancellations(snapshot, []), isNew: false, ended: [] };
}

/** Nothing is left to do, but not everything is there yet. Who lacks a replica may get it from a shard that is being emptied. */
function settle(view: PlanView): Decision | undefined {
  const { topology } = view;
  const isComing = topology.leaving.length > 0 && findAwaited(topology).length === 0;
  return assessHealth(view).shortcomings.find(({ reason }) => !isComing || reason !== 'ReplicaMissing');
}

/** What has become of what the operator made. */
type Found = Pick<Upkeep, 'drifts' | 'refused'>;
const NOTHING: Found = { drifts: [], refused: [] };

function conclude(view: PlanView, course: Course, stages: Plan['stages'] = [], found: Found = NOTHING): Plan {
  const { decision } = course;
  const health = assessToldHealth(view, course.orchestration?.kind);
  const upgrades = followUpgrades(view, course);
  const log = writeLog(view, course);
  const isFormedNow = !view.topology.formed && health.servedSlots === SLOT_COUNT;
  const { drifts } = found;
  const standing = describeRefused(found.refused) ?? describeHostNamesOnly(view.snapshot);
  const exporter = findExporterProblem(view);
  const status = summarize(view, { health, problems: findPodProblems(view), course, drifts, standing, exporter });
  return {
    stages: stages.filter((stage) => stage.length > 0),
    status,
    detail: {
      ...describeDetail(view, upgrades.upgraded),
      ...(status.phase && { phase: status.phase }),
      ...(log.length > 0 && { orchestrationLog: log }),
    },
    upgrades: upgrades.statuses,
    events: [
      ...drifts.map(
        ({ message, heldMs }) => ({ reason: heldMs ? 'DriftContested' : 'DriftRepaired', message }) as const,
      ),
      ...findRoleChanges(view),
      ...findNotableKeys(view),
      ...tellStory(view, course),
      ...(decision?.events ?? []),
      ...(standing ? [standing] : []),
      ...(exporter ? [exporter] : []),
      ...(decision?.held ? [{ reason: decision.reason, message: decision.message }] : []),
      ...(isFormedNow ? [{ reason: 'ClusterFormed', message: `All ${SLOT_COUNT} slots are served.` } as const] : []),
    ],
    ended: listEnded(view, course.ended),
    stayConnected: decision !== undefined,
    wakeAfterMs: Math.min(nextLook(view, course), ...nextDriftLooks(view, drifts), ...nextRetries(found)),
  };
}

function nextRetries({ refused }: Found): number[] {
  return refused.map(({ retryInMs }) => retryInMs);
}

/** When something may have become different without anybody telling. */
function nextLook(view: PlanView, { decision, hold }: Course): number {
  const renewal = nextRenewal(view) ?? FRESH_MS;
  const atRest = view.snapshot.pods.some(isContradicted) ? CONTRADICTED_MS : FRESH_MS;
  const restart = (findRestartToCome(view.snapshot) ?? Infinity) - view.snapshot.now;
  const waits = [hold?.wakeAfterMs ?? FRESH_MS, renewal, restart];
  return Math.min(decision ? (decision.wakeAfterMs ?? BACKSTOP_MS) : atRest, ...waits);
}
