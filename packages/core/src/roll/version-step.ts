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
import { findUnannounceable } from '../announced.ts';
import { fieldOfSetting, settingsInEffect } from '../builders/settings.ts';
import { formatImage } from '../builders/template-parts.ts';
import type { PlanView } from '../decision.ts';
import { listNames } from '../status/list-names.ts';
import { refuseImage } from './image-proof.ts';
import { findSqueeze } from './less-memory.ts';

/** Why an image must not be rolled out. */
export function refuseVersion(view: PlanView, target: EffectiveClusterSpec): string | undefined {
  const { valkeyImage } = target;
  const to = versionOfImageTag(valkeyImage.tag);
  if (!to) return refuseUnknown(view, target);
  const why = isSupportedVersion(to)
    ? refuseUnasked(view, target, to)
    : 'but only Valkey 8.0 and later is run here. Choose another tag';
  return why
    ? `spec.valkeyImage.tag is "${valkeyImage.tag}", ${why}. The cluster keeps its image.`
    : refuseStep(view, target);
}

/**
 * What would lose data or a node, whoever has allowed what. It is asked before every pod, not only before the first, and of a
 * way back to what was in effect too, for which nobody has to set allowDowngrade.
 */
export function refuseStep(view: PlanView, { valkeyImage: { tag } }: EffectiveClusterSpec): string | undefined {
  const to = versionOfImageTag(tag);
  const why = to && (refuseLone(view, to) ?? refuseSettings(view, to) ?? refuseData(view, to));
  return why && `The pods are to be of the tag "${tag}", ${why}. No pod is replaced.`;
}

/** The target has not begun and must not: neither does it begin by the replacement of a pod that is unwell just now. */
export function isBarred(view: PlanView): boolean {
  const { roll, topology } = view;
  if (!topology.formed || roll.begun || roll.changes.length === 0) return false;
  const isRefused = refuseVersion(view, roll.target) !== undefined || refuseImage(view) !== undefined;
  return isRefused || findSqueeze(view) !== undefined;
}

/** What it is shows only when it runs, and by then a replica has been given up for it: a person may say that it is well. */
function refuseUnknown({ snapshot, roll }: PlanView, { valkeyImage }: EffectiveClusterSpec): string | undefined {
  const isAllowed = snapshot.cluster.metadata.annotations?.[annotations.allowUnknownVersion] === 'true';
  if (isAllowed || formatImage(valkeyImage) === formatImage(roll.good.valkeyImage)) return undefined;
  return `spec.valkeyImage.tag is "${valkeyImage.tag}", which does not begin with a version such as 9.1, so whether this step is safe, or the image a Valkey at all, is not known beforehand. Write another tag, or allow it by the annotation ${annotations.allowUnknownVersion}=true: then one replica shows what it is. The cluster keeps its image.`;
}

/**
 * Data that the older version cannot hold. A copy of it fails for ever, and what is written while it runs is missing on the
 * replica without a word.
 */
function refuseData({ topology }: PlanView, to: ValkeyVersion): string | undefined {
  if (hasFeature(to, 'hashFieldExpiration')) return undefined;
  const holders = topology.members.filter(({ report }) => (report.memory?.expiringHashes ?? 0) > 0);
  if (holders.length === 0) return undefined;
  const names = listNames(holders.map(({ pod }) => pod.name));
  return `but there are hashes whose fields have a time to live of their own (HEXPIRE, HSETEX), on ${names}, and no Valkey before 9.0 can hold them. Remove these fields' times to live (HPERSIST), or write the tag of the newer version`;
}

/** Of the primaries: a replica of a later version, such as the canary of an upgrade, holds nothing that they do not. */
export function newestRunning({ topology }: PlanView): ValkeyVersion | undefined {
  const versions = topology.shards.flatMap(({ primary }) => parseVersion(primary.report.process.version ?? '') ?? []);
  return versions.toSorted((a, b) => compareVersions(b, a))[0];
}

/** Back over a change of the file format, which a slip of the pen must not begin. */
function refuseUnasked(
  view: PlanView,
  { allowDowngrade }: EffectiveClusterSpec,
  to: ValkeyVersion,
): string | undefined {
  const from = findUnreadable(view, to);
  if (!from || allowDowngrade) return undefined;
  return `which cannot read the data files of ${from} that runs. To go back all the same, with data copied from primary to replica, set spec.allowDowngrade`;
}

/** A primary's files are its data; where they cannot be read, the data must come from a copy that runs. */
function refuseLone(view: PlanView, to: ValkeyVersion): string | undefined {
  const from = findUnreadable(view, to);
  const isAlone = view.topology.shards.some(({ replicas }) => replicas.length === 0);
  return from && isAlone
    ? `which cannot read the data files of ${from} that runs, and there are shards without a replica to copy the data to. Set spec.replicasPerMaster to 1 for the time of the change`
    : undefined;
}

function findUnreadable(view: PlanView, to: ValkeyVersion): string | undefined {
  const from = newestRunning(view);
  return !from || canLoadFilesOf(to, from) ? undefined : formatVersion(from);
}

/** A setting that a server does not know keeps it from starting. */
function refuseSettings({ snapshot }: PlanView, to: ValkeyVersion): string | undefined {
  const { settings = {}, nodes } = settingsInEffect(snapshot) ?? {};
  const announced = findUnannounceable(nodes, to);
  if (announced)
    return `which does not know ${announced}, and spec.services.external.type is NodePort, which takes that. Use LoadBalancer first`;
  const names = Object.keys(settings).toSorted();
  const unknown = names.filter((name) => classifySetting(to, name) === 'unknown');
  const fields = listNames(unknown.map((name) => fieldOfSetting(snapshot.spec, name)));
  return fields ? `which does not know ${fields}. Remove that first` : undefined;
}
