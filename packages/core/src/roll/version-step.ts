import type { EffectiveClusterSpec } from '@valkey-operator/api';
import {
  canLoadFilesOf,
  compareVersions,
  formatVersion,
  isSupportedVersion,
  parseVersion,
  type ValkeyVersion,
  versionOfImageTag,
} from '@valkey-operator/valkey';
import type { PlanView } from '../decision.ts';

/** Why an image must not be rolled out. A tag that names no version passes: what the canary then says of itself counts. */
export function refuseVersion(view: PlanView, { valkeyImage, allowDowngrade }: EffectiveClusterSpec) {
  const to = versionOfImageTag(valkeyImage.tag);
  const from = newestRunning(view);
  if (!to) return undefined;
  if (!isSupportedVersion(to))
    return `spec.valkeyImage.tag is "${valkeyImage.tag}", but only Valkey 8.0 and later is run here. The cluster keeps its image; choose another tag.`;
  if (!from || canLoadFilesOf(to, from) || allowDowngrade) return undefined;
  return `spec.valkeyImage.tag is "${valkeyImage.tag}", which cannot read the data files of ${formatVersion(from)} that runs. The cluster keeps its image. To go back all the same, with data copied from primary to replica, set spec.allowDowngrade.`;
}

export function newestRunning({ topology }: PlanView): ValkeyVersion | undefined {
  const versions = topology.members.flatMap(({ report }) => parseVersion(report.process.version ?? '') ?? []);
  return versions.toSorted((a, b) => compareVersions(b, a))[0];
}
