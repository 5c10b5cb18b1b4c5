import { compareReleaseLines, formatVersion, parseVersion, versionOfImageTag } from '@valkey-operator/valkey';
import { parseDuration } from '@valkey-operator/api';
import type { PlanView } from '../decision.ts';
import type { NodeView, PodView } from '../snapshot.ts';
import { isServing } from '../status/health.ts';
import { describeStuck, findStuck } from '../status/pod-problems.ts';
import { isFresh, type Member } from '../topology.ts';
import { upgradedImage } from '../upgrade/upgraded-image.ts';
import { STUCK_MS } from './image-proof.ts';

const MINUTE_MS = 60_000;

/** How long a pod of a new template may take, and what happens when it takes longer. */
export function rollPolicy({ snapshot }: PlanView) {
  const by = upgradedImage(snapshot)?.by;
  const upgrade = snapshot.upgrades?.find(({ metadata }) => metadata.name === by);
  const { rollbackOnFailure, podReadyTimeout, replicationSyncTimeout } = upgrade?.spec ?? {};
  return {
    rollBack: rollbackOnFailure ?? true,
    readyMs: parseDuration(podReadyTimeout ?? '10m'),
    syncMs: parseDuration(replicationSyncTimeout ?? '1h'),
  };
}

export interface RollFailure {
  readonly pod: PodView;
  /** What was seen, in a sentence. */
  readonly seen: string;
}

/** A pod of the new template that is not what it should be, and had its time. */
export function findFailure(view: PlanView): RollFailure | undefined {
  const { roll } = view;
  if (!roll.begun || roll.changes.length === 0) return undefined;
  // Whoever is only to be restarted once more is of the new template all the same.
  const old = new Set(roll.outdated.flatMap(({ pod, changes }) => (changes.length > 0 ? [pod] : [])));
  for (const pod of view.snapshot.pods) {
    const seen = old.has(pod) ? undefined : judge(pod, view);
    if (seen) return { pod, seen };
  }
  return undefined;
}

function judge(pod: PodView, view: PlanView): string | undefined {
  const stuck = findStuck(pod);
  if (stuck && unwellMs(pod, view) > STUCK_MS) return stuck;
  const expected = versionOfImageTag(view.roll.target.valkeyImage.tag);
  const running = parseVersion(pod.report?.process.version ?? '');
  if (expected && running && compareReleaseLines(expected, running) !== 0)
    return `its Valkey says that it is ${formatVersion(running)}`;
  return judgeExporter(pod, view) ?? (pod.report ? judgeReport(pod, pod.report, view) : judgeSilence(pod, view));
}

/** Only where the exporter is what the roll is about is it a reason to go back: otherwise it would be the same before. */
function judgeExporter({ exporter, createdAt }: PodView, { roll, snapshot }: PlanView): string | undefined {
  const isChanged = roll.changes.some((part) => part === 'exporter' || part === 'exporterImage');
  if (!exporter || exporter.ready || !isChanged) return undefined;
  const isLasting = snapshot.now - (exporter.unreadySince ?? createdAt) > STUCK_MS;
  return isLasting ? describeStuck(exporter.waiting) : undefined;
}

/** Whoever has not been heard yet may serve, and an operator that has just begun has heard nobody. */
function judgeSilence({ createdAt, unschedulable }: PodView, view: PlanView): string | undefined {
  const { now, operator } = view.snapshot;
  const { readyMs } = rollPolicy(view);
  if (now - createdAt <= readyMs) return undefined;
  return unschedulable ?? (createdAt >= (operator.since ?? 0) ? notStarted(readyMs) : undefined);
}

/** By the time since it was well last: a pod may load or copy its data long after it was made. */
function judgeReport(pod: PodView, { process, cluster }: NodeView, view: PlanView): string | undefined {
  const { readyMs, syncMs } = rollPolicy(view);
  const unwell = unwellMs(pod, view);
  // Another node, for which it is held at its start gate, comes back by no other template.
  const isHeld = process.gate?.reason === 'REPLICA_MAY_HAVE_MORE_DATA';
  if (isHeld || !isFresh(pod, view.snapshot.now)) return undefined;
  if (process.state === 'loading')
    return unwell > syncMs ? `it has not loaded its data within ${syncMs / MINUTE_MS} minutes` : undefined;
  if (!cluster) return unwell > readyMs ? notStarted(readyMs) : undefined;
  const member = view.topology.members.find((each) => each.pod === pod);
  if (member?.cluster.role === 'replica' && !isServing(member) && Math.min(unwell, copyableMs(member, view)) > syncMs)
    return `it was not in sync with its primary within ${syncMs / MINUTE_MS} minutes`;
  return undefined;
}

function notStarted(readyMs: number): string {
  return `it has not started within ${readyMs / MINUTE_MS} minutes`;
}

/** For how long it has not been ready. */
export function unwellMs({ ready, readyChangedAt, createdAt }: PodView, { snapshot }: PlanView): number {
  return ready ? 0 : snapshot.now - (readyChangedAt ?? createdAt);
}

/** For how long its primary has been there to be copied. */
function copyableMs({ cluster }: Member, { topology, snapshot }: PlanView): number {
  const primary = topology.members.find(({ id }) => id === cluster.primaryId)?.pod;
  return primary?.ready ? snapshot.now - (primary.readyChangedAt ?? primary.createdAt) : 0;
}
