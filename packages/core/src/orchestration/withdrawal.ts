import type { OrchestrationKind } from '@valkey-operator/api';
import type { ClusterSnapshot } from '../snapshot.ts';
import { isInForce, readCancellations } from './cancellation.ts';
import { isChange, recallBegun } from './begun.ts';

/** The kinds of changes that have been cancelled or given up after they had begun: their planners work their way back. */
export function findWithdrawn(snapshot: ClusterSnapshot): ReadonlySet<OrchestrationKind> {
  const begun = recallBegun(snapshot).filter(({ kind }) => isChange(kind));
  const cancelled = readCancellations(snapshot, begun).filter((each) => isInForce(snapshot, each));
  return new Set(cancelled.map(({ kind }) => kind));
}
