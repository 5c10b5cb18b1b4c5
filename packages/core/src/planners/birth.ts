import { assignSlotsEvenly } from '@valkey-operator/valkey';
import { type Decision, order, type PlanView, stagesOf } from '../decision.ts';
import { placeFirstShards } from '../first-placement.ts';
import { listNames } from '../status/list-names.ts';
import type { PodView } from '../snapshot.ts';
import { hasKeys, type Member, type Topology } from '../topology.ts';
import { introduce } from './introduce.ts';
import { attachFree } from './replicas.ts';

/**
 * Forms a cluster of nodes that own nothing: first the slots, while the nodes do not know each other yet, then the
 * introductions, then the replicas, all in one plan, because each command ends with the effect that the next one needs.
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
  const [hub, ...others] = primaries;
  if (hub === undefined) return undefined;
  const replicas = placed.flatMap(({ primary, replicas: mates }) => mates.map((replica) => ({ replica, primary })));
  const assignments = primaries.flatMap((primary, index) => {
    const slots = String(ranges[index]);
    const addSlots = order(primary, { do: 'addSlots', slots }, 'Creating', {
      role: 'primary',
      slotOwners: [{ slots, nodeId: '' }],
    });
    return isUnmet(primary) ? [setEpoch(primary, index + 1), addSlots] : [addSlots];
  });
  return {
    ...naming,
    reason: 'Creating',
    message: `The nodes have started; ${placed.length} primaries share the slots among them and get their replicas.`,
    stages: stagesOf(
      assignments,
      [
        ...introduce(hub, [...others, ...replicas.map(({ replica }) => replica)]),
        // Directly as well, because gossip takes its time: a replica must know its primary before it can follow it, and
        // primaries serve when they know who has the slots that they have not.
        ...replicas
          .filter(({ primary }) => primary !== hub)
          .flatMap(({ replica, primary }) => introduce(replica, [primary])),
        ...others.flatMap((primary, index) => introduce(primary, others.slice(index + 1, index + 1 + DIRECTLY))),
      ],
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

/** So many others a primary is introduced to at most: in a large cluster all at once would be too many. */
const DIRECTLY = 8;

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

/** Primaries with the same epoch would have to fight it out; a node that knows others has one already or gets one. */
function isUnmet({ cluster }: Member): boolean {
  return cluster.configEpoch === 0 && cluster.nodes.length <= 1;
}

function setEpoch(primary: Member, epoch: number) {
  return order(primary, { do: 'setConfigEpoch', epoch }, 'Creating', { configEpoch: 0 });
}

function describeWait({ missing, podCount, members }: Topology): string {
  if (missing.length === 0) return `All ${podCount} nodes have started; the operator is connecting to their sidecars.`;
  const names = listNames(missing.map(({ name }) => name));
  return `${members.length} of ${podCount} nodes have started; waiting for ${names}.`;
}
