import type { UpgradedImage, ValkeyUpgrade } from '@valkey-operator/api';
import { compareVersions, formatVersion, versionOfImageTag } from '@valkey-operator/valkey';
import { formatImage } from '../builders/template-parts.ts';
import type { PlanView } from '../decision.ts';
import { findFailure } from '../roll/failure.ts';
import { newestRunning, refuseVersion } from '../roll/version-step.ts';
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
export function followUpgrades(view: PlanView): UpgradesOutcome {
  const open = (view.snapshot.upgrades ?? []).filter(isOpen).toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
  const [current, ...others] = open;
  const kept = upgradedImage(view.snapshot);
  if (!current) return { statuses: [], upgraded: kept };
  const { news, upgraded = kept } = follow(view, current, kept);
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

/** It waits, or is under way. */
export function isOpen({ status }: Pick<ValkeyUpgrade, 'status'>): boolean {
  return OPEN.has(status?.phase);
}

interface Step {
  readonly news: UpgradeNews;
  readonly upgraded?: UpgradedImage | 'none';
}

function follow(view: PlanView, upgrade: ValkeyUpgrade, kept: UpgradedImage | undefined): Step {
  const phase = upgrade.status?.phase;
  if (kept && isWishOf(view, upgrade, kept)) return watchRunning(view, kept);
  if (phase === 'Running' && upgrade.status?.insteadOf !== writtenImage(view.snapshot)) {
    const message = 'spec.valkeyImage of the cluster was changed meanwhile, and counts.';
    return { news: { phase: 'Failed', reason: 'UpgradeRefused', message } };
  }
  if (phase === 'Running' || phase === 'RollingBack') return watchReturn(view);
  return start(view, upgrade);
}

/** It is the object that the image is of, or one that was made anew in its place and asks for the same. */
function isWishOf(view: PlanView, upgrade: ValkeyUpgrade, kept: UpgradedImage): boolean {
  const { name, uid } = upgrade.metadata;
  return kept.uid === uid || (kept.by === name && formatImage(kept) === formatImage(targetOf(view, upgrade)));
}

function start(view: PlanView, upgrade: ValkeyUpgrade): Step {
  const { snapshot, roll } = view;
  const refusal = refuse(view, upgrade);
  if (refusal) return { news: { phase: 'Failed', reason: 'UpgradeRefused', message: refusal } };
  const [shortcoming] = assessHealth(view).shortcomings;
  const isBusy = roll.outdated.length > 0 || roll.changes.length > 0;
  const why = isPaused(snapshot) ? 'The cluster is paused.' : (shortcoming?.message ?? 'The cluster is being changed.');
  if (shortcoming || isBusy || isPaused(snapshot))
    return { news: { phase: 'Queued', reason: 'UpgradeQueued', message: `Waits until the cluster is well: ${why}` } };
  const { name: image, tag } = targetOf(view, upgrade);
  const { name: by, uid } = upgrade.metadata;
  const upgraded = { insteadOf: writtenImage(snapshot), name: image, tag, by, uid };
  return { news: { phase: 'Queued', reason: 'UpgradeQueued', message: 'Begins.' }, upgraded };
}

function watchRunning(view: PlanView, { insteadOf }: UpgradedImage): Step {
  const { changes, outdated, begun, failed, withdrawn, good } = view.roll;
  const end = failed?.message ?? (withdrawn ? 'it was cancelled' : undefined);
  if (end) {
    // Where an upgrade before this one had its way, that is what to go back to.
    const before = { insteadOf, name: good.valkeyImage.name, tag: good.valkeyImage.tag, by: '' };
    const upgraded = formatImage(good.valkeyImage) === insteadOf ? 'none' : before;
    return { news: { phase: 'RollingBack', reason: 'RolledBack', message: `Goes back: ${end}.` }, upgraded };
  }
  const isDone = begun && changes.length === 0 && outdated.length === 0 && assessHealth(view).shortcomings.length === 0;
  if (isDone)
    return {
      news: { phase: 'Succeeded', reason: 'UpgradeSucceeded', message: 'Every pod is of the target and well.' },
    };
  const halted = findFailure(view);
  const message = halted
    ? `Held at pod ${halted.pod.name}: ${halted.seen}. Nothing else is replaced until that pod is well or this object is deleted.`
    : 'Pods are replaced, one at a time.';
  return { news: { phase: 'Running', reason: halted ? 'RollHalted' : 'OrchestrationStarted', message } };
}

function watchReturn({ roll }: PlanView): Step {
  const isBack = roll.outdated.length === 0;
  const message = isBack ? 'Every pod is of the image before.' : 'Pods that were replaced go back to the image before.';
  return { news: { phase: isBack ? 'RolledBack' : 'RollingBack', reason: 'RolledBack', message } };
}

function targetOf({ snapshot }: PlanView, { spec }: ValkeyUpgrade): { name: string; tag: string } {
  const { name, tag } = snapshot.spec.valkeyImage;
  return { name: spec.image?.name ?? name, tag: spec.targetVersion ?? spec.image?.tag ?? tag };
}

function refuse(view: PlanView, upgrade: ValkeyUpgrade): string | undefined {
  const { spec } = view.snapshot;
  const target = targetOf(view, upgrade);
  const image = formatImage(target);
  if (image === formatImage(spec.valkeyImage)) return `The cluster runs ${image} already.`;
  const [to, from] = [versionOfImageTag(target.tag), newestRunning(view)];
  const isMoved = target.name !== spec.valkeyImage.name;
  const order = to && from ? compareVersions(to, from) : 1;
  if (to && from && (isMoved ? order < 0 : order <= 0))
    return `${image} is not newer than ${formatVersion(from)}, which runs. To go back, change spec.valkeyImage of the cluster.`;
  return refuseVersion(view, { ...spec, valkeyImage: { ...spec.valkeyImage, ...target } });
}

function order({ metadata: { creationTimestamp, name } }: ValkeyUpgrade): string {
  return `${creationTimestamp} ${name}`;
}
