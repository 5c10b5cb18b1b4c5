import { annotations, type EffectiveClusterSpec } from '@valkey-operator/api';
import {
  canLoadFilesOf,
  classifySetting,
  compareVersions,
  formatVersion,
  hasFeature,
  isSupportedVersion,
  parseVersion,
  type ValkeyVersion,
  versionOfImageTag,
} from '@valkey-operator/valkey';
import { fieldOfSetting, settingsInEffect } from '../builders/settings.ts';
import { formatImage } from '../builders/template-parts.ts';
import type { PlanView } from '../decision.ts';
import { listNames } from '../status/list-names.ts';

/** Why an image must not be rolled out. */
export function refuseVersion(view: PlanView, target: EffectiveClusterSpec): string | undefined {
  const { valkeyImage } = target;
  const to = versionOfImageTag(valkeyImage.tag);
  if (!to) return refuseUnknown(view, target);
  const why = isSupportedVersion(to)
    ? (refuseFiles(view, target, to) ?? refuseSettings(view, to))
    : 'but only Valkey 8.0 and later is run here. Choose another tag';
  return why
    ? `spec.valkeyImage.tag is "${valkeyImage.tag}", ${why}. The cluster keeps its image.`
    : refuseData(view, target);
}

/** What it is shows only when it runs, and by then a replica has been given up for it: a person may say that it is well. */
function refuseUnknown({ snapshot, roll }: PlanView, { valkeyImage }: EffectiveClusterSpec): string | undefined {
  const isAllowed = snapshot.cluster.metadata.annotations?.[annotations.allowUnknownVersion] === 'true';
  if (isAllowed || formatImage(valkeyImage) === formatImage(roll.good.valkeyImage)) return undefined;
  return `spec.valkeyImage.tag is "${valkeyImage.tag}", which does not begin with a version such as 9.1, so whether this step is safe, or the image a Valkey at all, is not known beforehand. Write another tag, or allow it by the annotation ${annotations.allowUnknownVersion}=true: then one replica shows what it is. The cluster keeps its image.`;
}

/**
 * Data that the older version cannot hold. A copy of it fails for ever, and what is written while it runs is missing on the
 * replica without a word; so this is asked before every pod, not only before the first.
 */
export function refuseData({ topology }: PlanView, { valkeyImage }: EffectiveClusterSpec): string | undefined {
  const to = versionOfImageTag(valkeyImage.tag);
  if (!to || hasFeature(to, 'hashFieldExpiration')) return undefined;
  const holders = topology.members.filter(({ report }) => (report.memory?.expiringHashes ?? 0) > 0);
  if (holders.length === 0) return undefined;
  const names = listNames(holders.map(({ pod }) => pod.name));
  return `spec.valkeyImage.tag is "${valkeyImage.tag}", but there are hashes whose fields have a time to live of their own (HEXPIRE, HSETEX), on ${names}, and no Valkey before 9.0 can hold them. No pod is replaced. Remove these fields' times to live (HPERSIST), or set the tag back.`;
}

/** Of the primaries: a replica of a later version, such as the canary of an upgrade, holds nothing that they do not. */
export function newestRunning({ topology }: PlanView): ValkeyVersion | undefined {
  const versions = topology.shards.flatMap(({ primary }) => parseVersion(primary.report.process.version ?? '') ?? []);
  return versions.toSorted((a, b) => compareVersions(b, a))[0];
}

/** A primary's files are its data; where they cannot be read, the data must come from a copy that runs. */
function refuseFiles(view: PlanView, { allowDowngrade }: EffectiveClusterSpec, to: ValkeyVersion): string | undefined {
  const from = newestRunning(view);
  if (!from || canLoadFilesOf(to, from)) return undefined;
  const unreadable = `which cannot read the data files of ${formatVersion(from)} that runs`;
  if (!allowDowngrade)
    return `${unreadable}. To go back all the same, with data copied from primary to replica, set spec.allowDowngrade`;
  const isAlone = view.topology.shards.some(({ replicas }) => replicas.length === 0);
  return isAlone
    ? `${unreadable}, and there are shards without a replica to copy the data to. Set spec.replicasPerMaster to 1 for the time of the change`
    : undefined;
}

/** A setting that a server does not know keeps it from starting. */
function refuseSettings({ snapshot }: PlanView, to: ValkeyVersion): string | undefined {
  const names = Object.keys(settingsInEffect(snapshot)?.settings ?? {}).toSorted();
  const unknown = names.filter((name) => classifySetting(to, name) === 'unknown');
  const fields = listNames(unknown.map((name) => fieldOfSetting(snapshot.spec, name)));
  return fields && `which does not know ${fields}. Remove that first`;
}
