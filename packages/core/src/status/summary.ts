import { createHash } from 'node:crypto';
import { annotations, labels, type Phase, ports, reasons, type ValkeyClusterSummary } from '@valkey-operator/api';
import { compareVersions, formatVersion, parseVersion, SLOT_COUNT } from '@valkey-operator/valkey';
import { selectorLabels } from '../builders/metadata.ts';
import type { Decision, PlanView } from '../decision.ts';
import { explainCancellation, isInForce } from '../orchestration/cancellation.ts';
import type { Course } from '../orchestration/course.ts';
import { isChange } from '../orchestration/begun.ts';
import { explainUnheededCancel } from '../orchestration/unheeded-cancel.ts';
import type { Drift } from '../drift.ts';
import { describeAwaitedMemory } from '../roll/more-memory.ts';
import { findRestartToCome } from '../roll/restart-at.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { type ConditionText, type ConditionTexts, writeConditions } from './conditions.ts';
import { describeDrift } from './drift-condition.ts';
import { describeExporter } from './exporter.ts';
import type { Finding, Health } from './health.ts';
import { isPaused, PAUSED } from './paused.ts';
import { formatTime } from './time.ts';

export interface Situation {
  readonly health: Health;
  /** Of pods, worst first. */
  readonly problems: readonly Finding[];
  /** What the plan does or waits for, and what comes after. */
  readonly course: Course;
  /** What somebody else has changed. */
  readonly drifts: readonly Drift[];
  /** What stays until a person does something, and holds up nothing: what the API server does not take, for instance. */
  readonly standing: Finding | undefined;
  /** An exporter that does not run. */
  readonly exporter: Finding | undefined;
}

/** The status of the cluster, as `kubectl get` and `kubectl describe` show it. */
export function summarize(view: PlanView, situation: Situation): ValkeyClusterSummary {
  const { snapshot, topology } = view;
  const { cluster, spec, certificates } = snapshot;
  const { health, course } = situation;
  const { name, namespace } = cluster.metadata;
  const version = oldestVersion(view);
  const expiries = [certificates.intermediate, certificates.sidecar].flatMap((each) => (each ? [each.notAfter] : []));
  return {
    phase: choosePhase(view, situation),
    observedGeneration: cluster.metadata.generation,
    masters: `${health.readyPrimaries}/${health.wantedPrimaries}`,
    replicas: `${health.readyReplicas}/${health.wantedReplicas}`,
    masterCount: topology.shards.length,
    selector: Object.entries(selectorLabels(name))
      .filter(([key]) => key !== labels.name)
      .map(([key, value]) => `${key}=${value}`)
      .join(','),
    slotsAssigned: health.servedSlots,
    ...(version && { version }),
    endpoint: `${name}.${namespace}.svc:${ports.valkey}`,
    effectiveSpecHash: createHash('sha256').update(canonical(spec)).digest('hex').slice(0, 16),
    ...(expiries.length > 0 && { certificateExpiry: formatTime(Math.min(...expiries)) }),
    ...(course.orchestration && { orchestration: course.orchestration }),
    ...describeCancelled(course),
    ...describeExporter(view),
    ...(course.pending.length > 0 && { pendingOrchestrations: [...course.pending] }),
    conditions: writeConditions(snapshot, describeConditions(view, situation)),
  };
}

function describeCancelled({ cancelled: [last, ...before] }: Course) {
  return { ...(last && { cancelled: last }), ...(before.length > 0 && { cancelledBefore: before }) };
}

function describeConditions(view: PlanView, situation: Situation): ConditionTexts {
  const { health, problems, course, drifts, standing, exporter } = situation;
  const { decision } = course;
  const { snapshot, topology } = view;
  const healthy: ConditionText = { status: true, reason: 'Healthy', message: describeHealth(view, health) };
  const held = decision?.held ? decision : undefined;
  const [worst = health.shortcomings[0]] = [held, ...problems, standing].filter((each) => each !== undefined);
  const isReady = health.shortcomings.length === 0;
  const bad = [worst, exporter].find((each) => each && reasons[each.reason].event === 'Warning');
  return {
    Ready: isReady ? healthy : { status: false, ...explain(worst ?? health.shortcomings[0], decision) },
    Progressing: addUnheededCancel(view, course, describeProgress(view, course, standing)),
    Degraded: bad
      ? { status: true, ...pick(bad) }
      : { status: false, reason: 'Healthy', message: 'Nothing is lost or broken.' },
    SlotsAssigned: describeSlots(topology.formed, health),
    DriftDetected: describeDrift(snapshot, drifts),
    ...(isPaused(snapshot) && { Paused: describePause(view, course) }),
  };
}

function describePause({ topology }: PlanView, { pending }: Course): ConditionText {
  const { growth, wantedPods, observedPods = 0 } = topology;
  const asked = growth?.wantedPods ?? wantedPods;
  const more = asked > observedPods ? ` The spec asks for ${asked} pods, and there are ${observedPods}.` : '';
  const waiting = pending.map(({ kind }) => kind).join(', ');
  const plan = waiting && ` What waits: ${waiting}; .status.plan says what it would do.`;
  return { status: true, reason: 'Paused', message: `${PAUSED}${more}${plan}` };
}

function describeProgress(
  view: PlanView,
  { decision, hold, cancelled }: Course,
  standing: Finding | undefined,
): ConditionText {
  const { snapshot } = view;
  if (isPaused(snapshot)) return { status: false, reason: 'Paused', message: PAUSED };
  if (decision && !decision.held) return { status: true, ...pick(decision) };
  if (decision) return { status: false, ...pick(decision) };
  if (hold) return { status: true, ...pick(hold) };
  const stopped = cancelled.filter((each) => isInForce(snapshot, each));
  if (stopped.length > 0) {
    const reason = stopped.some(({ why }) => why === 'Failed') ? 'OrchestrationFailed' : 'Cancelled';
    const why = stopped.map((each) => explainCancellation(each)).join(' ');
    return { status: false, reason, message: why + describeAwaitedMemory(view) };
  }
  if (standing) return { status: false, ...standing };
  return { status: false, reason: 'Healthy', message: `The cluster is as the spec asks; ${describeRest(snapshot)}.` };
}

function describeRest(snapshot: ClusterSnapshot): string {
  const restart = findRestartToCome(snapshot);
  if (restart === undefined) return 'there is nothing to do';
  return `its pods are restarted from ${formatTime(restart)} on (annotation ${annotations.restartAt})`;
}

/** Beside whatever goes on: it changes nothing of that. */
function addUnheededCancel(view: PlanView, course: Course, text: ConditionText): ConditionText {
  const unheeded = explainUnheededCancel(view, course);
  return unheeded ? { ...text, message: `${text.message} ${unheeded}` } : text;
}

/** Until the cluster was formed the reason is Creating: that is how the next look knows. */
function describeSlots(formed: boolean, { servedSlots }: Health): ConditionText {
  const text = `${servedSlots} of ${SLOT_COUNT} slots have a primary.`;
  if (servedSlots === SLOT_COUNT)
    return { status: true, reason: 'Healthy', message: `All ${SLOT_COUNT} slots have a primary.` };
  return { status: false, reason: formed ? 'SlotsUncovered' : 'Creating', message: text };
}

function describeHealth({ topology: { shards } }: PlanView, { wantedPrimaries, wantedReplicas }: Health): string {
  const each = wantedReplicas / wantedPrimaries;
  const replicas = each === 1 ? '1 replica' : `${each} replicas`;
  return `All ${SLOT_COUNT} slots are served by ${shards.length} primaries, each with ${replicas} in sync.`;
}

function choosePhase({ topology, roll }: PlanView, { health, course }: Situation): Phase {
  const { decision, orchestration } = course;
  const isServed = health.servedSlots === SLOT_COUNT;
  if (decision?.held && !isServed) return 'Failed';
  if (topology.creating && health.shortcomings.length > 0) return 'Pending';
  // What a roll takes away for a moment is part of it; whatever else is not served is mended under another name.
  if (!isServed) return orchestration?.kind === roll.kind ? 'Updating' : 'Failed';
  return orchestration && isChange(orchestration.kind) ? 'Updating' : 'Running';
}

function oldestVersion({ topology }: PlanView): string | undefined {
  const versions = topology.members.flatMap(({ report }) => parseVersion(report.process.version ?? '') ?? []);
  const [oldest] = versions.toSorted(compareVersions);
  return oldest && formatVersion(oldest);
}

function pick(finding: Finding | undefined): Finding {
  return { reason: finding?.reason ?? 'Creating', message: finding?.message ?? '' };
}

/** What is wrong, and what is done about it. */
function explain(finding: Finding | undefined, decision: Decision | undefined): Finding {
  const { reason, message } = pick(finding ?? decision);
  const next = decision && decision.message !== message ? ` ${decision.message}` : '';
  return { reason, message: message + next };
}

/** Keys in order, so that equal specs have equal hashes. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, field: unknown) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );
}
