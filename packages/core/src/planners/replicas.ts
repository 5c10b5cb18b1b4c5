import type { Action } from '../actions.ts';
import { type Decision, order, type PlanView, stagesOf } from '../decision.ts';
import { crowding } from '../placement.ts';
import { listNames } from '../status/list-names.ts';
import { hasKeys, isInSync, type Member, type Shard, type Topology } from '../topology.ts';
import { introduce } from './introduce.ts';

interface Attachment {
  readonly replica: Member;
  readonly primary: Member;
}

/** Gives every node without a shard one, and every shard the replicas that it lacks (C3). */
export function planReplicas({ topology }: PlanView): Decision | undefined {
  return attachFree(topology) ?? moveSurplus(topology) ?? reportUnusable(topology);
}

/** Nodes that serve nothing. As many as there are shards without a primary are kept: they may be needed as such. */
function attachFree(topology: Topology): Decision | undefined {
  const { strays, orphans, shards, shardCount } = topology;
  const free = [...strays, ...orphans.filter((orphan) => !hasKeys(orphan))].filter(({ pod }) => !pod.deletionTimestamp);
  const reserved = Math.max(0, shardCount - shards.length);
  const attachments = chooseShards(free.slice(reserved), shards);
  return attachments.length > 0 ? attach(attachments) : undefined;
}

/** Fewest replicas first, then the best spread. A primary that holds data feeds one replica at a time (fault 18). */
function chooseShards(free: readonly Member[], shards: readonly Shard[]): Attachment[] {
  const crews = shards.map(({ primary, replicas }) => ({ primary, replicas: [...replicas] }));
  return free.flatMap((replica) => {
    const open = crews.filter(
      ({ primary, replicas }) => !primary.pod.deletionTimestamp && (!hasKeys(primary) || replicas.every(isInSync)),
    );
    const fit = (crew: (typeof crews)[number]) => crowding(replica, [crew.primary, ...crew.replicas]);
    const [best] = open.toSorted((a, b) => a.replicas.length - b.replicas.length || fit(a) - fit(b));
    if (best === undefined) return [];
    best.replicas.push(replica);
    return [{ replica, primary: best.primary }];
  });
}

/** A replica that one shard has too many and another lacks. One at a time, and not while another receives its data. */
function moveSurplus({ shards, replicasPerShard }: Topology): Decision | undefined {
  const lacking = shards.find(({ replicas }) => replicas.length < replicasPerShard);
  if (!lacking || !shards.every(({ replicas }) => replicas.every(isInSync))) return undefined;
  const spare = shards
    .filter(({ replicas }) => replicas.length > replicasPerShard)
    .flatMap(({ primary, replicas }) => replicas.map((replica) => ({ replica, siblings: [primary, ...replicas] })))
    .filter(({ replica }) => !replica.pod.deletionTimestamp);
  const home = [lacking.primary, ...lacking.replicas];
  const cost = ({ replica, siblings }: (typeof spare)[number]) => crowding(replica, home) - crowding(replica, siblings);
  const [best] = spare.toSorted((a, b) => cost(a) - cost(b) || a.replica.pod.ordinal - b.replica.pod.ordinal);
  return best && attach([{ replica: best.replica, primary: lacking.primary }]);
}

/** Introduced first where that is needed: a node can only follow whom it knows. */
export function attach(attachments: readonly Attachment[]): Decision {
  const message = attachments.map(
    ({ replica, primary }) => `${replica.pod.name} becomes a replica of ${primary.pod.name}`,
  );
  const unmet = attachments.filter(({ replica, primary }) => !replica.known.get(primary.id)?.linkConnected);
  return {
    reason: 'ReplicaAttached',
    message: `${listNames(message)}.`,
    stages: stagesOf(
      unmet.flatMap(({ replica, primary }) => introduce(replica, [primary])),
      attachments.map(follow),
    ),
    events: message.map((text) => ({ reason: 'ReplicaAttached', message: `${text}.` })),
  };
}

function follow({ replica, primary }: Attachment): Action {
  const { role, primaryId } = replica.cluster;
  const guard = role === 'replica' && primaryId !== undefined ? { role, primaryId } : { role };
  return order(replica, { do: 'replicate', primaryId: primary.id }, 'ReplicaAttached', guard);
}

/** Valkey makes no replica of a node that has keys, and nobody but a person may throw them away. */
function reportUnusable({ orphans }: Topology): Decision | undefined {
  const loaded = orphans.filter(hasKeys).map(({ pod }) => pod.name);
  if (loaded.length === 0) return undefined;
  return {
    reason: 'ReplicaMissing',
    message: `${listNames(loaded)} has keys but no slots, so it cannot become a replica. If the keys are not needed, run FLUSHALL on it.`,
    held: true,
  };
}
