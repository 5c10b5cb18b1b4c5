import { annotations, type UpgradedImage, type ValkeyUpgrade } from '@valkey-operator/api';
import { compareVersions, formatVersion, versionOfImageTag } from '@valkey-operator/valkey';
import { formatImage, type ImageRef } from '../builders/template-parts.ts';
import type { PlanView } from '../decision.ts';
import { isChange } from '../orchestration/begun.ts';
import type { Course } from '../orchestration/course.ts';
import { findFailure, rollPolicy } from '../roll/failure.ts';
import { refuseImage } from '../roll/image-proof.ts';
import { isBarred, newestRunning, refuseVersion } from '../roll/version-step.ts';
import { assessHealth } from '../status/health.ts';
import { isPaused } from '../status/paused.ts';
import { describeUpgrade, type UpgradeNews } from './upgrade-status.ts';
import { upgradedImage, writtenImage } from './upgraded-image.ts';

export interface UpgradesOutcome {
  readonly statuses: readonly { readonly name: string; readonly status: NonNullable<ValkeyUpgrade['status']> }[];
  /** The image that counts instead of the written one from now on. */
  readonly upgraded: UpgradedImage | undefined;
}

const OPEN = new Set([undefined, 'Queued', 'Running', 'RollingBack']);

/**
 * What becomes of the ValkeyUpgrades of a cluster (B10): the oldest that is not over is made the image in effect, and the
 * roll that follows from that is told here. First the image is recorded, then the upgrade is called Running: one that is
 * Running without its image has been taken back.
 */
export function followUpgrades(view: PlanView, course: Course): UpgradesOutcome {
  const kept = countingImage(view);
  const order = (upgrade: ValkeyUpgrade) => rank(upgrade, kept);
  const open = (view.snapshot.upgrades ?? []).filter(isOpen).toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
  const [current, ...others] = open;
  if (!current) return { statuses: [], upgraded: kept };
  const { news, upgraded = kept } = follow(view, course, current, kept);
  const waiting = `Waits until ${current.metadata.name} is over.`;
  return {
    statuses: [
      { name: current.metadata.name, status: describeUpgrade(view, current, news) },
      ...others.map((upgrade) => ({
        name: upgrade.metadata.name,
        status: describeUpgrade(view, upgrade, { phase: 'Queued', reason: 'UpgradeQueued', message: waiting }),
      })),
    ],
    upgraded: upgraded === 'none' ? undefined : upgraded,
  };
}

/** The one of an upgrade that came to nothing before any pod was replaced counts no more, and first that is told. */
function countingImage(view: PlanView): UpgradedImage | undefined {
  const kept = upgradedImage(view.snapshot);
  const upgrade = kept && view.snapshot.upgrades?.find(({ metadata }) => metadata.uid === kept.uid);
  // Nobody is left to fail with an image that was refused on its trial.
  const isAbandoned = kept?.by !== '' && upgrade === undefined && refuseImage(view) !== undefined;
  if (!kept || (upgrade?.status?.phase !== 'Failed' && !isAbandoned)) return kept;
  const before = imageBefore(view, kept);
  return before === 'none' ? undefined : before;
}

/** It waits, or is under way. */
export function isOpen({ status }: Pick<ValkeyUpgrade, 'status'>): boolean {
  return OPEN.has(status?.phase);
}

interface Step {
  readonly news: UpgradeNews;
  readonly upgraded?: UpgradedImage | 'none';
}

function follow(view: PlanView, course: Course, upgrade: ValkeyUpgrade, kept: UpgradedImage | undefined): Step {
  if (kept && isWishOf(view, upgrade, kept)) return watchRunning(view, course, kept);
  if (!isUnderWay(upgrade)) return start(view, course, upgrade);
  const written = writtenImage(view.snapshot);
  if (upgrade.status?.insteadOf !== written) {
    if (written === formatImage(targetOf(view, upgrade))) return watchWritten(view, course, upgrade);
    const message = 'spec.valkeyImage of the cluster was changed meanwhile, and counts.';
    return { news: { phase: 'Failed', reason: 'UpgradeRefused', message } };
  }
  return watchReturn(view, course, upgrade);
}

function isUnderWay({ status }: ValkeyUpgrade): boolean {
  return status?.phase === 'Running' || status?.phase === 'RollingBack';
}

/** It is the object that the image is of, or one that was made anew in its place and asks for the same. */
function isWishOf(view: PlanView, upgrade: ValkeyUpgrade, kept: UpgradedImage): boolean {
  const { name, uid } = upgrade.metadata;
  return kept.uid === uid || (kept.by === name && formatImage(kept) === formatImage(targetOf(view, upgrade)));
}

function start(view: PlanView, { orchestration, decision }: Course, upgrade: ValkeyUpgrade): Step {
  const { snapshot, roll } = view;
  const refusal = refuse(view, upgrade);
  if (refusal) return { news: { phase: 'Failed', reason: 'UpgradeRefused', message: refusal } };
  const [shortcoming] = assessHealth(view).shortcomings;
  const isChanging = orchestration !== undefined && isChange(orchestration.kind) && !decision?.held;
  const isBusy = isChanging || roll.outdated.length > 0 || roll.changes.length > 0;
  const why = isPaused(snapshot) ? 'The cluster is paused.' : (shortcoming?.message ?? describeChange(decision));
  if (shortcoming || isBusy || isPaused(snapshot))
    return { news: { phase: 'Queued', reason: 'UpgradeQueued', message: `Waits until the cluster is well: ${why}` } };
  const { name: image, tag } = targetOf(view, upgrade);
  const { name: by, uid } = upgrade.metadata;
  const upgraded = { insteadOf: writtenImage(snapshot), name: image, tag, by, uid };
  return { news: { phase: 'Queued', reason: 'UpgradeQueued', message: 'Begins.' }, upgraded };
}

/** What nobody but a person can set right keeps it waiting too. */
function describeChange(decision: Course['decision']): string {
  return decision?.held ? decision.message : 'The cluster is being changed.';
}

function watchRunning(view: PlanView, course: Course, kept: UpgradedImage): Step {
  const refused = tellRefused(view);
  if (refused) return { news: refused };
  const cause = findCause(view, kept);
  if (!cause) return { news: tellRoll(view, course, kept) };
  return { news: { phase: 'RollingBack', reason: 'RolledBack', message: cause }, upgraded: imageBefore(view, kept) };
}

/** Its image has shown on a pod of its own that nothing comes of it. */
function tellRefused(view: PlanView): UpgradeNews | undefined {
  const message = refuseImage(view);
  return message === undefined ? undefined : { phase: 'Failed', reason: 'UpgradeRefused', message };
}

/** Where an upgrade before this one had its way, that is what to go back to. */
function imageBefore({ roll: { good } }: PlanView, { insteadOf }: UpgradedImage): UpgradedImage | 'none' {
  const { name, tag } = good.valkeyImage;
  return formatImage({ name, tag }) === insteadOf ? 'none' : { insteadOf, name, tag, by: '' };
}

/** Somebody has written its target into the spec: the same roll goes on, now because of that. */
function watchWritten(view: PlanView, course: Course, upgrade: ValkeyUpgrade): Step {
  const refused = tellRefused(view);
  if (refused) return { news: refused };
  const target = targetOf(view, upgrade);
  const cause = findCause(view, target);
  return { news: cause ? tellReturn(view, course, cause) : tellRoll(view, course, target) };
}

/** Why pods go back to an image that is not this one. */
function findCause({ roll: { failed, withdrawn, good } }: PlanView, image: ImageRef): string | undefined {
  const cause = failed?.message ?? (withdrawn ? 'it was cancelled' : undefined);
  return cause && !isSame(good.valkeyImage, image) ? `${BACK} ${cause}.` : undefined;
}

function tellRoll(view: PlanView, course: Course, image: ImageRef): UpgradeNews {
  if (isSame(view.roll.good.valkeyImage, image) && isSettled(view))
    return { phase: 'Succeeded', reason: 'UpgradeSucceeded', message: 'Every pod is of the target and well.' };
  const told = tellHalt(view) ?? findWait(course);
  const message = 'Pods are replaced, one at a time.';
  return { phase: 'Running', ...(told ?? { reason: 'OrchestrationStarted', message }) };
}

/** Every pod has the image that it should have, and nothing is amiss. */
function isSettled(view: PlanView): boolean {
  return view.roll.begun && !hasOtherImage(view) && assessHealth(view).shortcomings.length === 0;
}

function hasOtherImage({ roll }: PlanView): boolean {
  return roll.outdated.some(({ changes }) => changes.includes('valkey'));
}

function tellHalt(view: PlanView): Pick<UpgradeNews, 'reason' | 'message'> | undefined {
  const halted = findFailure(view);
  if (!halted) return undefined;
  const next = rollPolicy(view).rollBack
    ? 'Every pod that was replaced goes back.'
    : 'Nothing else is replaced until that pod is well or this object is deleted.';
  return { reason: 'RollHalted', message: `Held at pod ${halted.pod.name}: ${halted.seen}. ${next}` };
}

/** What the roll waits for that does not come by itself, or not soon. */
function findWait({ hold, decision }: Course): Pick<UpgradeNews, 'reason' | 'message'> | undefined {
  const wait = hold ?? (decision?.held ? decision : undefined);
  return wait && { reason: wait.reason, message: wait.message };
}

/** Begins the message of an upgrade that is taken back, and stays in it: why is to be read nowhere else afterwards. */
const BACK = 'Goes back:';
const NOW = ' Now: ';

function watchReturn(view: PlanView, course: Course, { status }: ValkeyUpgrade): Step {
  const { message = '' } = status?.conditions?.find(({ type }) => type === 'Complete') ?? {};
  const [cause = ''] = message.startsWith(BACK) ? message.split(NOW) : [`${BACK} its image does not count any more.`];
  return { news: tellReturn(view, course, cause) };
}

function tellReturn(view: PlanView, course: Course, cause: string): UpgradeNews {
  const wait = findWait(course)?.message ?? 'Pods that were replaced are made of the image before.';
  const [phase, now] = isSettled(view)
    ? (['RolledBack', 'Every pod is of the image before.'] as const)
    : (['RollingBack', wait] as const);
  return { phase, reason: 'RolledBack', message: `${cause}${NOW}${now}` };
}

function targetOf({ snapshot }: PlanView, { spec }: ValkeyUpgrade): ImageRef {
  const { name, tag } = snapshot.spec.valkeyImage;
  return { name: spec.image?.name ?? name, tag: spec.targetVersion ?? spec.image?.tag ?? tag };
}

function refuse(view: PlanView, upgrade: ValkeyUpgrade): string | undefined {
  const { spec } = view.snapshot;
  const target = targetOf(view, upgrade);
  const image = formatImage(target);
  if (isSame(target, spec.valkeyImage)) return refuseSame(view, image);
  const [to, from] = [versionOfImageTag(target.tag), newestRunning(view)];
  const isMoved = target.name !== spec.valkeyImage.name;
  const order = to && from ? compareVersions(to, from) : 1;
  if (to && from && (isMoved ? order < 0 : order <= 0))
    return `${image} is not newer than ${formatVersion(from)}, which runs. To go back, change spec.valkeyImage of the cluster.`;
  return refuseVersion(view, { ...spec, valkeyImage: { ...spec.valkeyImage, ...target } });
}

/** The spec asks for the same: that runs, has come to nothing, or has yet to come. */
function refuseSame(view: PlanView, image: string): string | undefined {
  const { snapshot, roll } = view;
  const isReached = isSame(roll.good.valkeyImage, snapshot.spec.valkeyImage);
  if (isReached) return hasOtherImage(view) ? undefined : `The cluster runs ${image} already.`;
  const asks = `spec.valkeyImage of the cluster asks for ${image} already`;
  if (roll.failed)
    return `${asks}, and that failed: ${roll.failed.message}. To try it again, set the annotation ${annotations.restartAt} of the cluster to the present time.`;
  if (roll.withdrawn) return `${asks}, and that was cancelled. To try it again, change the spec of the cluster.`;
  return isBarred(view) ? (refuseVersion(view, snapshot.spec) ?? refuseImage(view)) : undefined;
}

function isSame(one: ImageRef, other: ImageRef): boolean {
  return formatImage(one) === formatImage(other);
}

/** Who is under way goes first, though another one of the same second may come before it by name. */
function rank(upgrade: ValkeyUpgrade, kept: UpgradedImage | undefined): string {
  const { creationTimestamp, name, uid } = upgrade.metadata;
  return `${isUnderWay(upgrade) || kept?.uid === uid ? 0 : 1} ${creationTimestamp} ${name}`;
}
