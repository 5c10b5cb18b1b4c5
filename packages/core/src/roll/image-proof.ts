import { annotations } from '@valkey-operator/api';
import { compareReleaseLines, formatVersion, parseVersion, versionOfImageTag } from '@valkey-operator/valkey';
import { settingsInEffect } from '../builders/settings.ts';
import { formatImage } from '../builders/template-parts.ts';
import { nameTrial } from '../builders/trial-pod.ts';
import type { PlanView } from '../decision.ts';
import type { TrialView } from '../snapshot.ts';
import { upgradedImage } from '../upgrade/upgraded-image.ts';

/** A registry or a node may have a bad minute; what does not start for longer will not. */
export const STUCK_MS = 45_000;

/** Which trial the image needs before a pod is replaced for it; none where a person has given their word for it. */
export function askImage({ snapshot, topology, roll }: PlanView): string | undefined {
  const settings = settingsInEffect(snapshot);
  const isOther = formatImage(roll.target.valkeyImage) !== formatImage(roll.good.valkeyImage);
  const isTrusted = snapshot.cluster.metadata.annotations?.[annotations.allowUnknownVersion] === 'true';
  if (!topology.formed || !settings || roll.begun || !isOther || isTrusted) return undefined;
  return nameTrial(settings, roll.target);
}

/** It has yet to show what it is. */
export function isUnproven(view: PlanView): boolean {
  const { imageTrial: trial } = view.snapshot;
  const asked = askImage(view);
  return asked !== undefined && !(trial?.asked === asked && trial.verdict === 'accepted');
}

/** Why the image is not rolled out, by what was seen of it on a pod of its own. */
export function refuseImage(view: PlanView): string | undefined {
  const { snapshot, roll } = view;
  const { imageTrial: trial, now } = snapshot;
  if (!trial || trial.asked !== askImage(view)) return undefined;
  const { valkeyImage } = roll.target;
  const why = judge(trial, valkeyImage.tag, now);
  if (why === undefined) return undefined;
  const by = upgradedImage(snapshot)?.by;
  const asker = by ? `ValkeyUpgrade ${by}` : 'spec.valkeyImage';
  return `${asker} asks for ${formatImage(valkeyImage)}, but on a pod of its own, ${trial.name}, ${why}. The cluster keeps its image, and no pod was touched. Correct the image or its pull secrets.`;
}

/** That no node has room for the pod says nothing of the image. */
function judge(trial: TrialView, tag: string, now: number): string | undefined {
  const { verdict, version, message, stuck, createdAt } = trial;
  if (verdict === 'refused') return `no Valkey comes of it: ${message}`;
  if (verdict === 'unknown') return stuck && now - createdAt > STUCK_MS ? message : undefined;
  const [expected, told] = [versionOfImageTag(tag), parseVersion(version ?? '')];
  if (!expected || !told || compareReleaseLines(expected, told) === 0) return undefined;
  return `its Valkey says that it is ${formatVersion(told)}`;
}
