import type { PlanView } from '../decision.ts';
import { findDisplaced, wasAtRest } from '../displaced-slots.ts';
import type { Drift } from '../drift.ts';
import { previousDetail } from '../previous-detail.ts';

/** What was done to the nodes themselves (C6): settings, replicas and slots that somebody else has changed. */
export function findNodeDrift(view: PlanView): Drift[] {
  return [...findSettingDrift(view), ...findPlacementDrift(view)].map((message) => ({ message }));
}

function findSettingDrift({ topology: { members } }: PlanView): string[] {
  const quote = (value: string) => (value === '' ? '""' : value);
  return members.flatMap(({ pod, report }) =>
    (report.config.drift ?? []).map(
      ({ name, is, should }) => `Valkey in pod ${pod.name}: ${name} is ${quote(is)}, should be ${quote(should)}`,
    ),
  );
}

/** A failover is no such move: shard, replicas and slots stay together. */
function findPlacementDrift(view: PlanView): string[] {
  const taken = findDisplaced(view).flatMap(({ slots, owner, holder }) =>
    holder
      ? [`Slots ${slots.toString()} are served by ${holder.primary.pod.name}, should be by ${owner.primary.pod.name}`]
      : [],
  );
  const isAtRest = wasAtRest(view) && view.snapshot.cluster.status?.orchestration === undefined;
  return [...(isAtRest ? findMovedReplicas(view) : []), ...taken];
}

function findMovedReplicas({ snapshot, topology: { shards } }: PlanView): string[] {
  const { nodes = [] } = previousDetail(snapshot);
  return shards.flatMap((shard) =>
    shard.replicas.flatMap(({ pod }) => {
      const was = nodes.find((node) => node.pod === pod.name)?.shard;
      const old = shards.find((each) => each.id === was);
      return old === undefined || old === shard
        ? []
        : [`Replica ${pod.name} follows ${shard.primary.pod.name}, should follow ${old.primary.pod.name}`];
    }),
  );
}
