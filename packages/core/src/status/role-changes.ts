import { labels } from '@valkey-operator/api';
import type { Plan } from '../actions.ts';
import type { PlanView } from '../decision.ts';

/**
 * Replicas that have become primaries since the last look: their pods still bear the label of what they were. It is put
 * right by the same plan, so each change is told once, also when operators change in between.
 */
export function findRoleChanges({ snapshot, topology }: PlanView): Plan['events'] {
  return topology.shards.flatMap(({ primary, replicas, slots }): Plan['events'] => {
    const { role, shard } = labels;
    if (primary.pod.labels[role] !== 'replica') return [];
    const former = snapshot.pods.find(
      (pod) => pod.labels[role] === 'primary' && pod.labels[shard] === primary.pod.labels[shard],
    );
    const text = `${primary.pod.name} is now the primary of slots ${slots.toString()}`;
    // Whoever is asked to go hands over first; whoever went without being asked could not. Who answers may yet have to tell of it.
    const answers = topology.members.some(
      ({ pod, report, cluster }) => pod === former && report.live && cluster.stateOk,
    );
    const isOrderly = former?.deletionTimestamp !== undefined || replicas.some(({ pod }) => pod === former) || answers;
    return former && isOrderly
      ? [{ reason: 'PrimaryHandedOver', message: `${text}, which ${former.name} has handed over.` }]
      : [{ reason: 'FailedOver', message: `${text}, because the one before is not there.` }];
  });
}
