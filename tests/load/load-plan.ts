import { keySlot, type SlotRoute, SlotSet } from '@valkey-operator/valkey';

/** How many replicas must confirm a write before it counts as waited for. */
export type WaitLevel = 'none' | 1 | 'all';

/** The part of the keyspace that one primary owned when the load began; it stays one shard of the report, whoever owns it later. */
export interface LoadShard {
  readonly primaryId: string;
  readonly slots: SlotSet;
  readonly replicas: number;
}

/** The shards of a cluster as its first view has them, by their first slot, with the replicas that any view knows. */
export function listShards(views: readonly (readonly SlotRoute[])[]): LoadShard[] {
  const replicas = Map.groupBy(views.flat(), ({ primary }) => primary.id);
  const countReplicas = (id: string) =>
    new Set(replicas.get(id)?.flatMap((route) => route.replicas.map((replica) => replica.id))).size;
  const byPrimary = Map.groupBy(views[0] ?? [], ({ primary }) => primary.id);
  const shards = [...byPrimary].map(([primaryId, owned]) => ({
    primaryId,
    slots: SlotSet.of(owned.flatMap(({ slots }) => slots.ranges)),
    replicas: countReplicas(primaryId),
  }));
  return shards.toSorted((a, b) => a.slots.ranges[0]![0] - b.slots.ranges[0]![0]);
}

/** How many replicas a WAIT of this level has to ask for; 0: no WAIT. */
export function replicasToWaitFor(level: WaitLevel, shard: LoadShard): number {
  if (level === 'none') return 0;
  return level === 'all' ? shard.replicas : 1;
}

/** Hash tags that fall into these slots, without end and never the same twice. */
export function* tagsIn(slots: SlotSet): Generator<string, never> {
  for (let number = 0; ; number += 1) {
    const tag = number.toString(36);
    if (slots.has(keySlot(tag))) yield tag;
  }
}
