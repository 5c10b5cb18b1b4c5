import { annotations, type ValkeyCluster } from '@valkey-operator/api';
import type { Action, Plan } from '@valkey-operator/core';

/** Told before and after every write and every command, by name. */
export type Checkpoint = (moment: 'before' | 'after', point: string, cluster: ValkeyCluster) => void;

export const noCheckpoint: Checkpoint = () => {};

/** What a write or a command is called wherever it occurs: `ScaleOut/CommandNode moveSlots`. */
export function namePoint({ status }: Pick<Plan, 'status'>, action: Action | 'WriteStatus'): string {
  const kind = status.orchestration?.kind ?? 'Upkeep';
  if (action === 'WriteStatus') return `${kind}/${action}`;
  if (action.type === 'CommandNode') return `${kind}/${action.type} ${action.command.do}`;
  if (action.type === 'ApplyChild') return `${kind}/${action.type} ${action.object.kind}`;
  return `${kind}/${action.type}`;
}

/**
 * For tests, and only with --crash-points: the process ends itself, as a crash would, at the point that an annotation of the
 * cluster names: `<point>#<n>/<before|after>@<term>`, the n-th time since the annotation is there. Bound to a term, so that
 * the next process goes on.
 */
export function createCrashPoints(term: number, crash: () => void): Checkpoint {
  const counts = new Map<string, number>();
  return (moment, point, { metadata }) => {
    const wanted = metadata.annotations?.[annotations.crashAt];
    if (wanted === undefined) return;
    const key = `${metadata.uid} ${wanted} ${point}/${moment}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (wanted === `${point}#${count}/${moment}@${term}`) crash();
  };
}
