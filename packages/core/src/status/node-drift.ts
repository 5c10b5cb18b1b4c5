import { SlotSet } from '@valkey-operator/valkey';
import type { PlanView } from '../decision.ts';
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

/**
 * Against what was written down last, and only while nothing was under way: whatever has moved since, nobody here has
 * moved. A failover is no such move: shard, replicas and slots stay together.
 */
function findPlacementDrift({ snapshot, topology }: PlanView): string[] {
  const { shards: before = [], nodes = [] } = previousDetail(snapshot);
  const { shards, formed, missing } = topology;
  const isAtRest = formed && missing.length === 0 && snapshot.cluster.status?.orchestration === undefined;
  if (!isAtRest || snapshot.cluster.status?.observedGeneration !== snapshot.cluster.metadata.generation) return [];
  const moved = shards.flatMap((shard) =>
    shard.replicas.flatMap(({ pod }) => {
      const was = nodes.find((node) => node.pod === pod.name)?.shard;
      const old = shards.find((each) => each.id === was);
      return old === undefined || old === shard
        ? []
        : [`Replica ${pod.name} follows ${shard.primary.pod.name}, should follow ${old.primary.pod.name}`];
    }),
  );
  const taken = shards.flatMap((shard) => {
    const written = before.find(({ id }) => id === shard.id)?.slots;
    const gained = written ? shard.slots.difference(SlotSet.parse(written.join(' '))) : SlotSet.empty;
    return gained.isEmpty
      ? []
      : [`Slots ${gained.toString()} are served by ${shard.primary.pod.name}, which did not have them`];
  });
  return [...moved, ...taken];
}
