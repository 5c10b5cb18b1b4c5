import { compareReleaseLines, formatVersion, parseVersion, versionOfImageTag } from '@valkey-operator/valkey';
import { parseDuration } from '@valkey-operator/api';
import type { PlanView } from '../decision.ts';
import type { PodView } from '../snapshot.ts';
import { isServing } from '../status/health.ts';
import { findStuck } from '../status/pod-problems.ts';
import { upgradedImage } from '../upgrade/upgraded-image.ts';

/** A registry or a node may have a bad minute; what does not start for longer will not. */
const STUCK_MS = 45_000;
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
  const old = new Set(roll.outdated.map(({ pod }) => pod));
  for (const pod of view.snapshot.pods) {
    const seen = old.has(pod) ? undefined : judge(pod, view);
    if (seen) return { pod, seen };
  }
  return undefined;
}

function judge(pod: PodView, view: PlanView): string | undefined {
  const { readyMs, syncMs } = rollPolicy(view);
  const age = view.snapshot.now - pod.createdAt;
  const stuck = findStuck(pod);
  if (stuck && age > STUCK_MS) return stuck;
  const expected = versionOfImageTag(view.roll.target.valkeyImage.tag);
  const running = parseVersion(pod.report?.process.version ?? '');
  if (expected && running && compareReleaseLines(expected, running) !== 0)
    return `its Valkey says that it is ${formatVersion(running)}`;
  if (age > readyMs && !pod.report?.cluster)
    return pod.unschedulable ?? `it has not started within ${readyMs / MINUTE_MS} minutes`;
  const member = view.topology.members.find((each) => each.pod === pod);
  if (age > syncMs && member?.cluster.role === 'replica' && !isServing(member))
    return `it was not in sync with its primary within ${syncMs / MINUTE_MS} minutes`;
  return undefined;
}
