import { labels } from '@valkey-operator/api';
import type { Action } from '../actions.ts';
import type { PlanView } from '../decision.ts';
import { shardOf } from '../status/detail.ts';

/** Keeps role and shard on each pod true, and the labels of the spec, which a pod takes without a restart. */
export function planLabels(view: PlanView): Action[] {
  return view.topology.members.flatMap(({ pod, cluster }): Action[] => {
    const shard = shardOf(view, pod);
    const wanted: Record<string, string> = {
      ...view.snapshot.spec.labels,
      ...(shard && { [labels.role]: cluster.role, [labels.shard]: shard.primary.cluster.shardId || shard.primary.id }),
    };
    const changed = Object.entries(wanted).filter(([key, value]) => pod.labels[key] !== value);
    if (changed.length === 0 || pod.deletionTimestamp) return [];
    return [{ type: 'LabelPod', pod: pod.name, uid: pod.uid, labels: Object.fromEntries(changed) }];
  });
}
