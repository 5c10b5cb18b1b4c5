import type { Orchestration, OrchestrationKind, PendingOrchestration } from '@valkey-operator/api';
import type { ClusterSnapshot } from '../snapshot.ts';

/** An operation that has begun: it runs, or a repair has interrupted it. */
export type Begun = Pick<Orchestration, 'id' | 'kind' | 'startedAt'> & Partial<Orchestration>;

/** Creating and healing are what the operator is for; all else is a change that somebody asked for. */
export function isChange(kind: OrchestrationKind): boolean {
  return kind !== 'Create' && kind !== 'Heal';
}

/** What has begun and not ended, as the status tells: what ran last, then what it interrupted. */
export function recallBegun({ cluster }: ClusterSnapshot): Begun[] {
  const { orchestration, pendingOrchestrations = [] } = cluster.status ?? {};
  return [...(orchestration ? [orchestration] : []), ...pendingOrchestrations.filter(hasBegun)];
}

function hasBegun(entry: PendingOrchestration): entry is PendingOrchestration & Begun {
  return entry.id !== undefined && entry.startedAt !== undefined;
}
