import type { EffectiveClusterSpec } from '@valkey-operator/api';
import { settingsInEffect } from './builders/settings.ts';
import type { PlanView } from './decision.ts';

/** Admission does not see what comes from ValkeyClusterDefaults. */
export function refuseUnreachable({ replication, replicasPerMaster }: EffectiveClusterSpec): string | undefined {
  return explain(replication.minReplicasToWrite, replicasPerMaster);
}

/** Replicas that go would end the writes of a shard that has as many as its nodes need now, whatever the spec says by now. */
export function refuseLeaving({ snapshot, topology: { shards } }: PlanView): string | undefined {
  const needed = Number(settingsInEffect(snapshot)?.settings['min-replicas-to-write'] ?? 0);
  const takesWrites = shards.some(({ replicas }) => replicas.length >= needed);
  return takesWrites ? explain(needed, snapshot.spec.replicasPerMaster) : undefined;
}

function explain(needed: number, replicas: number): string | undefined {
  if (needed <= replicas) return undefined;
  return `spec.replication.minReplicasToWrite is ${needed} and spec.replicasPerMaster ${replicas}, defaults included: no primary could ever accept a write. Lower the one or raise the other.`;
}
