import type { Plan } from '../actions.ts';
import type { PlanView } from '../decision.ts';
import { previousDetail } from '../expectation.ts';

/** Shards whose primary is another one than at the last look. */
export function findRoleChanges({ snapshot, topology }: PlanView): Plan['events'] {
  const before = new Map(previousDetail(snapshot).shards?.map(({ id, primary }) => [id, primary]));
  return topology.shards.flatMap(({ primary, replicas, slots }): Plan['events'] => {
    const former = before.get(primary.cluster.shardId || primary.id);
    if (former === undefined || former === primary.pod.name) return [];
    const text = `${primary.pod.name} is now the primary of slots ${slots.toString()}, as ${former} was before`;
    const isThere = replicas.some(({ pod }) => pod.name === former);
    return isThere
      ? [{ reason: 'PrimaryHandedOver', message: `${text}; that one is its replica.` }]
      : [{ reason: 'FailedOver', message: `${text}; that one is not there.` }];
  });
}
