import type { ClusterConditionType, Condition, Reason } from '@valkey-operator/api';
import type { ClusterSnapshot } from '../snapshot.ts';
import { formatTime } from './time.ts';

export interface ConditionText {
  readonly status: boolean;
  readonly reason: Reason;
  readonly message: string;
}

export type ConditionTexts = Partial<Record<ClusterConditionType, ConditionText>>;

/** Conditions of this status; the time of each moves only when its status does, for that is when it became so. */
export function writeConditions({ cluster, now }: ClusterSnapshot, texts: ConditionTexts): Condition[] {
  const before = new Map(cluster.status?.conditions?.map((condition) => [condition.type, condition]));
  return Object.entries(texts).map(([type, { status, reason, message }]) => {
    const written = status ? 'True' : 'False';
    const last = before.get(type);
    return {
      type,
      status: written,
      reason,
      message,
      observedGeneration: cluster.metadata.generation,
      lastTransitionTime: last?.status === written ? last.lastTransitionTime : formatTime(now),
    };
  });
}

/** For how long a condition has been as it is now written; 0 when it is not. */
export function conditionAge(
  { cluster, now }: ClusterSnapshot,
  type: ClusterConditionType,
  status: Condition['status'],
): number {
  const condition = cluster.status?.conditions?.find((each) => each.type === type);
  return condition?.status === status ? now - Date.parse(condition.lastTransitionTime) : 0;
}
