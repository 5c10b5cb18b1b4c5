import type { PlanView } from '../decision.ts';
import { findDisplaced, wasAtRest } from '../displaced-slots.ts';
import type { Drift } from '../drift.ts';
import { previousDetail } from '../previous-detail.ts';
import type { Member, Shard } from '../topology.ts';
import { lastDrift } from './drift-condition.ts';

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
  return [...findMovedReplicas(view), ...taken];
}

/**
 * Whether a replica goes back to where somebody has moved it from. By then it has copied its data there, so the record has it
 * there too, and what is left is what was told.
 */
export function isComingHome(view: PlanView, replica: Member, home: Shard): boolean {
  const away = view.topology.shards.find(({ replicas }) => replicas.includes(replica));
  const words = away && describeMove(replica, away, home);
  const told = lastDrift(view.snapshot)?.message.slice(0, -1).split('; ') ?? [];
  return words !== undefined && [...findMovedReplicas(view), ...told].includes(words);
}

function describeMove({ pod }: Member, away: Shard, home: Shard): string {
  return `Replica ${pod.name} follows ${away.primary.pod.name}, should follow ${home.primary.pod.name}`;
}

function findMovedReplicas(view: PlanView): string[] {
  const { snapshot, topology } = view;
  const { shards } = topology;
  if (!wasAtRest(view) || snapshot.cluster.status?.orchestration !== undefined) return [];
  const { nodes = [] } = previousDetail(snapshot);
  return shards.flatMap((shard) =>
    shard.replicas.flatMap((replica) => {
      const was = nodes.find((node) => node.pod === replica.pod.name)?.shard;
      const old = shards.find((each) => each.id === was);
      return old === undefined || old === shard ? [] : [describeMove(replica, shard, old)];
    }),
  );
}
