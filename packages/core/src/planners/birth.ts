import { assignSlotsEvenly } from '@valkey-operator/valkey';
import { type Decision, order, type PlanView, stagesOf } from '../decision.ts';
import { type FirstShard, placeFirstShards } from '../first-placement.ts';
import { listNames } from '../status/list-names.ts';
import type { PodView } from '../snapshot.ts';
import { hasKeys, type Member, type Topology } from '../topology.ts';
import { introduce } from './introduce.ts';
import { attachFree } from './replicas.ts';

/**
 * Forms a cluster of nodes that own nothing: first the introductions, then the slots, of which each primary tells those it
 * knows, then the replicas, all in one plan, because each command ends with the effect that the next one needs.
 * It begins as soon as every shard can have a primary; who starts later is attached when it is there. A birth that was cut
 * short goes on as repair: slots that nobody has, strangers, nodes without a shard.
 */
export function planBirth(view: PlanView): Decision | undefined {
  const { topology } = view;
  const { shards, silent, formed, creating, shardCount } = topology;
  const isUnborn = shards.length === 0 && silent.every(({ slots }) => slots.isEmpty);
  if (!isUnborn) return creating && shards.length === shardCount ? attachFree(topology) : undefined;
  const naming = formed ? {} : ({ kind: 'Create' } as const);
  const wait: Decision = { ...naming, reason: 'WaitingForPods', message: describeWait(topology) };
  if (!isEmptyHanded(topology)) return wait;

  if (topology.strays.length > 0) return freeStrays(topology);
  const placed = placeFirstShards(view.snapshot.pods, topology);
  if (placed.length < shardCount) return wait;
  const ranges = assignSlotsEvenly(placed.length);
  const primaries = placed.map(({ primary }) => primary);
  const replicas = placed.flatMap(({ primary, replicas: mates }) => mates.map((replica) => ({ replica, primary })));
  const assignments = primaries.map((primary, index) => {
    const slots = String(ranges[index]);
    const guard = { role: 'primary', slotOwners: [{ slots, nodeId: '' }] } as const;
    return order(primary, { do: 'addSlots', slots }, 'Creating', guard);
  });
  return {
    ...naming,
    reason: 'Creating',
    message: `The nodes have started; ${placed.length} primaries share the slots among them and get their replicas.`,
    stages: stagesOf(
      introduceFamily(placed),
      assignments,
      replicas.map(({ replica, primary }) =>
        order(replica, { do: 'replicate', primaryId: primary.id }, 'ReplicaAttached', { role: 'primary' }),
      ),
    ),
    events: formed ? [{ reason: 'DataLost', message: LOST }] : [],
  };
}

/**
 * Nobody can have slots that we do not know of: every pod has told who it is, or, in a cluster that was never whole, that
 * its Valkey is yet to start on an empty disk.
 */
function isEmptyHanded({ allKnown, formed, members, missing, wantedPods }: Topology): boolean {
  const isNew = (pod: PodView | undefined) =>
    pod?.report?.live === true && pod.report.dataState === 'empty' && YET_TO_START.has(pod.report.process.state);
  const areNew = missing.every(({ pod }) => isNew(pod) && pod?.kubernetesNode && pod.ordinal < wantedPods);
  return allKnown || (!formed && areNew && members.every(({ report }) => report.live));
}

const YET_TO_START: ReadonlySet<string> = new Set(['absent', 'gated', 'starting']);

/** Replicas of a primary that nobody knows any more, and empty like everything else. */
function freeStrays({ strays }: Topology): Decision {
  const names = listNames(strays.map(({ pod }) => pod.name));
  const empty = strays.filter((stray) => !hasKeys(stray));
  if (empty.length < strays.length) {
    const message = `${names} follows a primary that does not exist any more, and has keys. Run CLUSTER RESET on it if they are not needed.`;
    return { reason: 'SlotsUncovered', message, held: true };
  }
  const message = `${names} follows a primary that does not exist any more and begins anew.`;
  const reset = (stray: Member) => order(stray, { do: 'reset', hard: false }, 'Creating', { role: 'replica' });
  return { reason: 'Creating', message, stages: [empty.map(reset)] };
}

const LOST =
  'Every node came back without its slots and its data; the cluster is formed again, empty. ' +
  'Restore a backup if there is one.';

/**
 * Everybody to one of them, the rest is gossip; which takes its time, so those who must know each other soon are introduced
 * directly, from both sides: a replica and its primary, and primaries, because each tells the others when it gets its slots.
 */
function introduceFamily(placed: readonly FirstShard[]) {
  const everybody = placed.flatMap(({ primary, replicas }) => [primary, ...replicas]);
  return placed.flatMap(({ primary, replicas }, index) => {
    const next = placed.filter((_, other) => isNear(index, other, placed.length)).map((shard) => shard.primary);
    const known = index === 0 ? everybody.filter((member) => member !== primary) : [...next, ...replicas];
    return [...introduce(primary, known), ...replicas.flatMap((replica) => introduce(replica, [primary]))];
  });
}

/** Neighbours on the ring of shards: all of them in a small cluster, and in a large one not too many. */
function isNear(one: number, other: number, count: number): boolean {
  const distance = Math.abs(one - other);
  return distance > 0 && Math.min(distance, count - distance) <= NEAR;
}

const NEAR = 4;

function describeWait({ missing, podCount, members }: Topology): string {
  if (missing.length === 0) return `All ${podCount} nodes have started; the operator is connecting to their sidecars.`;
  const names = listNames(missing.map(({ name }) => name));
  return `${members.length} of ${podCount} nodes have started; waiting for ${names}.`;
}
