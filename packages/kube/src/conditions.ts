import { formatTime } from './micro-time.ts';

/** metav1.Condition; which types and reasons there are is for packages/api to say. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  observedGeneration?: number;
  lastTransitionTime: string;
}

/** `conditions` with this one set in its place. Its time moves only when its status does: that is when it became so. */
export function setCondition(
  conditions: readonly Condition[],
  condition: Omit<Condition, 'lastTransitionTime'>,
  now: number,
): Condition[] {
  const before = conditions.find(({ type }) => type === condition.type);
  const since = before?.status === condition.status ? before.lastTransitionTime : formatTime(now);
  const after = { ...condition, lastTransitionTime: since };
  return before ? conditions.map((each) => (each === before ? after : each)) : [...conditions, after];
}

export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}
