import type { OrchestrationKind } from '@valkey-operator/api';
import type { ClusterSnapshot } from '../snapshot.ts';
import { isInForce, readCancellation } from './cancellation.ts';
import { isChange, recallBegun } from './begun.ts';

/** The kind of change that has been cancelled or given up after it had begun: its planner works its way back. */
export function findWithdrawn(snapshot: ClusterSnapshot): OrchestrationKind | undefined {
  const running = recallBegun(snapshot).find(({ kind }) => isChange(kind));
  const cancelled = readCancellation(snapshot, running);
  return cancelled && isInForce(snapshot, cancelled) ? cancelled.kind : undefined;
}
