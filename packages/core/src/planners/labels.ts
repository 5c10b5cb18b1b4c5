import { type EffectiveClusterSpec, labels } from '@valkey-operator/api';
import type { Action } from '../actions.ts';
import type { PlanView } from '../decision.ts';
import { previousDetail } from '../previous-detail.ts';
import { shardOf } from '../status/detail.ts';

type Values = Readonly<Record<string, string>>;

/** Keeps role and shard on each pod true, and labels and annotations of the spec, which a pod takes without a restart. */
export function planLabels(view: PlanView): Action[] {
  const { spec } = view.snapshot;
  const before = (previousDetail(view.snapshot).effectiveSpec ?? {}) as Partial<EffectiveClusterSpec>;
  return view.topology.members.flatMap(({ pod, cluster }): Action[] => {
    const shard = shardOf(view, pod);
    const place = shard && {
      [labels.role]: cluster.role,
      [labels.shard]: shard.id,
    };
    const changed = findChanges(pod.labels, { ...spec.labels, ...place }, before.labels);
    const noted = findChanges(pod.annotations, { ...spec.annotations }, before.annotations);
    const isNoted = Object.keys(noted).length > 0;
    if ((Object.keys(changed).length === 0 && !isNoted) || pod.deletionTimestamp) return [];
    return [{ type: 'LabelPod', pod: pod.name, uid: pod.uid, labels: changed, ...(isNoted && { annotations: noted }) }];
  });
}

/** What to set, and what the spec had before and has no more. */
function findChanges(present: Values, wanted: Values, before: Values = {}): Record<string, string | null> {
  const dropped = Object.keys(before).filter((key) => !(key in wanted) && key in present);
  const changed = Object.entries(wanted).filter(([key, value]) => present[key] !== value);
  return { ...Object.fromEntries(changed), ...Object.fromEntries(dropped.map((key) => [key, null])) };
}
