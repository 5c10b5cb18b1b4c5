import type { Reason } from '@valkey-operator/api';
import type { Action } from '../actions.ts';
import { assignNewcomers } from '../assignment.ts';
import { type Decision, order, type PlanView, stagesOf } from '../decision.ts';
import { crowding, type Placed } from '../placement.ts';
import { isDoomed } from '../shard-roles.ts';
import { conditionAge } from '../status/conditions.ts';
import { listNames } from '../status/list-names.ts';
import { isComingHome } from '../status/node-drift.ts';
import { hasKeys, isInSync, isOwner, type Member, type Shard, type Topology } from '../topology.ts';
import { introduce } from './introduce.ts';

/** After this time Valkey will not do by itself what it has not done yet. */
const PATIENCE_MS = 60_000;

interface Attachment {
  readonly replica: Member;
  readonly primary: Member;
}

/** Gives every node without a shard one, and every shard the replicas that it lacks (C3). */
export function planReplicas(view: PlanView): Decision | undefined {
  const { topology } = view;
  return attachFree(topology) ?? moveSurplus(view) ?? reportUnusable(view);
}

/**
 * Nodes that serve nothing. As many as there are shards without a primary are kept: they may be needed as such. While pods of
 * new shards are awaited nobody is given away whom they may need, except to a shard that lacks a replica.
 */
export function attachFree(topology: Topology): Decision | undefined {
  const { strays, orphans, shards, shardCount, wantedShards, newborn, leaving, missing, replicasPerShard } = topology;
  const isFree = (node: Member) => !node.pod.deletionTimestamp && (node.cluster.role === 'replica' || !hasKeys(node));
  const free = [...strays, ...orphans].filter(isFree);
  const doomed = free.filter((node) => isDoomed(node, topology));
  const reserved = Math.max(0, shardCount - shards.length - newborn.length);
  const crews = [...shards.filter((shard) => !leaving.includes(shard)), ...newborn];
  const lacking = crews.filter(({ replicas }) => replicas.length < replicasPerShard);
  const needed = lacking.reduce((sum, { replicas }) => sum + replicasPerShard - replicas.length, 0);
  const isGrowing =
    wantedShards > shards.length && (missing.length > 0 || shards.length + newborn.length < wantedShards);
  const recruits = free.filter((node) => !doomed.includes(node)).slice(reserved);
  const attachments = isGrowing
    ? chooseShards(recruits.slice(0, needed), lacking, topology)
    : chooseShards(recruits, crews, topology);
  const stopgaps = attachments.length > 0 ? [] : chooseShards(doomed.slice(0, needed), lacking, topology);
  return attachments.length + stopgaps.length > 0 ? attach([...attachments, ...stopgaps]) : undefined;
}

/**
 * Pods that have a node but have not started yet count too: what is attached now shall still be right when they are there;
 * pods that are about to go do not. A primary that holds data feeds one replica at a time (fault 18).
 */
function chooseShards(free: readonly Member[], shards: readonly Shard[], topology: Topology): Attachment[] {
  const { returning, awaited } = findComing(topology);
  const crews = shards.map(({ primary, replicas }) => [
    primary,
    ...replicas.filter((replica) => !isDoomed(replica, topology)),
    ...(returning.get(primary.id) ?? []),
  ]);
  const assigned = assignNewcomers<Placed>([...free, ...awaited], crews);
  return shards.flatMap(({ primary, replicas }, index) => {
    const recruits = free.filter((each) => assigned[index]?.includes(each));
    const isOpen = !primary.pod.deletionTimestamp && (!hasKeys(primary) || replicas.every(isInSync));
    const now = isOpen ? recruits.slice(0, hasKeys(primary) ? 1 : recruits.length) : [];
    return now.map((replica) => ({ replica, primary }));
  });
}

/** Pods that have their place but no say yet: those that will follow their primary again, and those that will be free. */
function findComing({ missing, silent, wantedPods }: Topology) {
  const coming = missing
    .flatMap(({ pod }) => (pod?.kubernetesNode && !pod.deletionTimestamp && pod.ordinal < wantedPods ? [pod] : []))
    .map((pod) => ({ pod, node: silent.find((each) => each.pod === pod) }));
  return {
    returning: Map.groupBy(coming, ({ node }) => node?.primaryId),
    awaited: coming.filter(({ node }) => node === undefined || (!node.primaryId && !isOwner(node))),
  };
}

/** A replica that one shard has too many and another lacks. One at a time, and not while another receives its data. */
function moveSurplus(view: PlanView): Decision | undefined {
  const { shards, newborn, leaving, replicasPerShard } = view.topology;
  const crews = [...shards.filter((shard) => !leaving.includes(shard)), ...newborn];
  const lacking = crews.find(({ replicas }) => replicas.length < replicasPerShard);
  if (!lacking || !shards.every(({ replicas }) => replicas.every(isInSync))) return undefined;
  const spare = shards
    .filter(({ replicas }) => replicas.length > replicasPerShard)
    .flatMap(({ primary, replicas }) => replicas.map((replica) => ({ replica, siblings: [primary, ...replicas] })))
    .filter(({ replica }) => !replica.pod.deletionTimestamp);
  const home = [lacking.primary, ...lacking.replicas];
  const cost = ({ replica, siblings }: (typeof spare)[number]) => crowding(replica, home) - crowding(replica, siblings);
  const [best] = spare.toSorted((a, b) => cost(a) - cost(b) || a.replica.pod.ordinal - b.replica.pod.ordinal);
  const isReturn = best !== undefined && isComingHome(view, best.replica, lacking);
  const reason = isReturn ? 'DriftRepaired' : 'ReplicaAttached';
  return best && attach([{ replica: best.replica, primary: lacking.primary }], reason);
}

/** Introduced first where that is needed: a node can only follow whom it knows. */
export function attach(
  attachments: readonly Attachment[],
  reason: 'ReplicaAttached' | 'DriftRepaired' = 'ReplicaAttached',
): Decision {
  const message = attachments.map(
    ({ replica, primary }) => `${replica.pod.name} becomes a replica of ${primary.pod.name}`,
  );
  const unmet = attachments.filter(({ replica, primary }) => !replica.known.get(primary.id)?.linkConnected);
  return {
    reason: 'ReplicaAttached',
    message: `${listNames(message)}.`,
    stages: stagesOf(
      unmet.flatMap(({ replica, primary }) => introduce(replica, [primary])),
      attachments.map((each) => follow(each, reason)),
    ),
    events: message.map((text) => ({ reason: 'ReplicaAttached', message: `${text}.` })),
  };
}

function follow({ replica, primary }: Attachment, reason: Reason): Action {
  const { role, primaryId } = replica.cluster;
  const guard = role === 'replica' && primaryId !== undefined ? { role, primaryId } : { role };
  return order(replica, { do: 'replicate', primaryId: primary.id }, reason, guard);
}

/**
 * Valkey makes no replica of a node that has keys, and nobody but a person may throw them away. But a primary whose slots were
 * taken over while it was away is such a node too, until it hears of that and follows its successor by itself.
 */
function reportUnusable({ topology, snapshot }: PlanView): Decision | undefined {
  const loaded = listNames(topology.orphans.filter(hasKeys).map(({ pod }) => pod.name));
  if (loaded === '') return undefined;
  const isLasting = conditionAge(snapshot, 'Ready', 'False') > PATIENCE_MS;
  const remedy = 'so it cannot become a replica. If the keys are not needed, run FLUSHALL on it.';
  return {
    reason: 'ReplicaMissing',
    message: `${loaded} has keys but no slots, ${isLasting ? remedy : 'and has not been made a replica by Valkey yet.'}`,
    held: isLasting,
  };
}
