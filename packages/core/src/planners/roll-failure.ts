import { annotations } from '@valkey-operator/api';
import type { Action } from '../actions.ts';
import type { Decision, PlanView } from '../decision.ts';
import { planImageTrial } from './image-trial.ts';
import { readWindows } from '../orchestration/windows.ts';
import { findFailure, rollPolicy, unwellMs } from '../roll/failure.ts';
import { describeAwaitedMemory } from '../roll/more-memory.ts';
import { describeChanges, type OutdatedPod } from '../roll/roll.ts';
import { isBarred, refuseStep } from '../roll/version-step.ts';
import type { PodView } from '../snapshot.ts';
import { isServing } from '../status/health.ts';
import { listNames } from '../status/list-names.ts';
import { findStuck } from '../status/pod-problems.ts';
import { isOwner, isPromotable, type Member } from '../topology.ts';

/** A pod of the new template did not become what it should: the roll ends here (C4). The detail records it. */
export function planRollFailure(view: PlanView): Decision | undefined {
  const { roll } = view;
  const failure = findFailure(view);
  if (!failure) return undefined;
  const message = `Pod ${failure.pod.name} of the new template (${describeChanges(roll, roll.changes)}) failed: ${failure.seen}.`;
  if (!rollPolicy(view).rollBack)
    return { reason: 'RollHalted', message: `${message} Nothing else is replaced until it is well.`, held: true };
  const told = `${message} Every pod that was replaced goes back.`;
  return { reason: 'RollHalted', message: told, kind: roll.kind, events: [{ reason: 'RollHalted', message: told }] };
}

/** All is well again, but not as the spec asks: that is for a person to see. */
export function planRolledBack(view: PlanView): Decision | undefined {
  const { failed, askedKind: kind } = view.roll;
  if (!failed) return undefined;
  const message = `The pods are made of what they were made of before, because those of the spec failed: ${failed.message}. Correct the spec; to try the same again, set the annotation ${annotations.restartAt} to the present time.${describeAwaitedMemory(view)}`;
  return { kind, reason: 'RolledBack', message, held: true };
}

/**
 * Pods that are not made of what they should be and do not serve: to replace them costs nothing, and often nothing else
 * makes them work. So a correction of a bad image, and the way back from one, is a repair that waits for nothing.
 */
export function planReplaceBroken(view: PlanView): Decision | undefined {
  const { roll } = view;
  const broken = findBroken(view);
  if (broken.length === 0) return undefined;
  const isBack = isBarred(view);
  // An image that shall help shows first that it is one, though not all is well.
  const proof = isBack ? undefined : planImageTrial(view);
  if (proof) return { ...proof, kind: roll.kind };
  if (!(isBack ? roll.restored : roll.begun)) return undefined;
  // At birth there is nothing to lose; later one disruption at a time holds for repairs as well.
  const chosen = view.topology.formed ? broken.slice(0, 1) : broken;
  const message = `${listNames(chosen.map(({ pod }) => pod.name))} does not serve and is replaced: ${describeChanges(roll, chosen[0]?.changes ?? [])}.`;
  const actions = chosen.map(({ pod }): Action => ({
    type: 'DeletePod',
    pod: pod.name,
    uid: pod.uid,
    reason: 'PodReplaced',
  }));
  return {
    reason: 'PodReplaced',
    message,
    kind: roll.kind,
    stages: [[], actions],
    events: [{ reason: 'PodReplaced', message }],
  };
}

export function findBroken(view: PlanView): OutdatedPod[] {
  const { topology, snapshot, roll } = view;
  const { outdated, failed } = roll;
  const barred = isBarred(view);
  return outdated.filter(({ pod, changes, isGood }) => {
    if (changes.length === 0 || pod.deletionTimestamp || (barred && isGood)) return false;
    const mayHaveData = !snapshot.spec.pvc && !hasNothing(pod);
    const isLastCopy = mayHaveData && topology.silent.some((node) => node.pod === pod && isOwner(node));
    if (isLastCopy || topology.shards.some(({ primary }) => primary.pod === pod)) return false;
    if (findStuck(pod) !== undefined || pod.unschedulable !== undefined) return true;
    if (!roll.begun && isGood && !isLasting(pod, view)) return false;
    if (pod.name === failed?.pod) return !topology.members.some((each) => each.pod === pod && isServing(each));
    // It may yet be in sync, and what would come in its place could not be.
    const isHopeless = changes.includes('valkey') && refuseStep(view, barred ? roll.good : roll.target) !== undefined;
    return cannotTakeOver(view, pod.name) && !isHopeless;
  });
}

/** No Valkey has run in it: it was made anew after the one that had the data, and may wait for ever for what that one had. */
function hasNothing({ unschedulable, report }: PodView): boolean {
  return unschedulable !== undefined || (report?.live === true && report.dataState === 'empty');
}

/**
 * A roll begins when all is well, and in its window: a replica that is out of sync for a moment does not begin it. One that does
 * not get there may need the very template that the spec asks for.
 */
function isLasting(pod: PodView, view: PlanView): boolean {
  return unwellMs(pod, view) > rollPolicy(view).readyMs && readWindows(view.snapshot).isOpen;
}

/**
 * A replica that could not take over, by its own word just now, of a primary that lives and so does not need it. But it may be in
 * sync soon, and where another of its shard is away or is not in sync yet, this one is the nearest to a copy.
 */
function cannotTakeOver(
  { topology: { shards, replicasPerShard }, roll: { outdated } }: PlanView,
  name: string,
): boolean {
  const isUseless = (replica: Member) => replica.pod.name === name && replica.report.live && !isPromotable(replica);
  const isOutdated = (replica: Member) => outdated.some(({ pod }) => pod === replica.pod);
  return shards.some(
    ({ primary, replicas }) =>
      primary.report.live &&
      replicas.some(isUseless) &&
      replicas.length >= replicasPerShard &&
      replicas.every((replica) => isServing(replica) || isOutdated(replica)),
  );
}
