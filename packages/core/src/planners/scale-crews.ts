import type { Action } from '../actions.ts';
import type { Decision, PlanView } from '../decision.ts';
import { crowding } from '../placement.ts';
import { findAwaited, isDoomed } from '../shard-roles.ts';
import { isServing } from '../status/health.ts';
import { isInSync, type Member, type Shard, type Topology } from '../topology.ts';
import { listHeirs, orderHandover } from './hand-over.ts';
import { attach } from './replicas.ts';
import { cancelMoves, findRunningMoves } from './slot-moves.ts';
import { UNHEARD } from './unheard.ts';

interface Crew {
  readonly shard: Shard;
  readonly survivors: readonly Member[];
}

/** Primaries whose pods go hand over to a replica that stays. Slots rest meanwhile: a failover would break their move off. */
export function handOverDoomed({ topology }: PlanView): Decision | undefined {
  const staying = crewsOf(topology).filter(({ shard }) => !topology.leaving.includes(shard));
  const affected = staying.filter(({ shard: { primary } }) => isDoomed(primary, topology));
  if (affected.length === 0) return undefined;
  const next = handOverNext(topology, affected);
  const hasHeirs = affected.some(({ survivors }) => survivors.length > 0);
  // A shard that is being emptied frees a node for those that have none.
  if (!next && !hasHeirs && topology.leaving.some(({ primary }) => !isDoomed(primary, topology))) return undefined;
  const running = findRunningMoves(topology);
  return running.length > 0 ? cancelMoves(running) : (next ?? waiting);
}

function handOverNext(topology: Topology, affected: readonly Crew[]): Decision | undefined {
  for (const { shard, survivors } of affected) {
    const { primary } = shard;
    const [heir] = listHeirs(primary, survivors);
    const message = `${heir?.pod.name} takes over from ${primary.pod.name}, whose pod is not wanted any more.`;
    if (heir) return orderHandover(primary, heir, message);
  }
  const bereft = affected.find(({ survivors }) => survivors.length === 0);
  return bereft && moveSurvivor(topology, bereft);
}

/** Each shard gets its full crew among the pods that stay. */
export function completeCrews({ topology }: PlanView): Decision | undefined {
  const { observedPods = 0, wantedPods, replicasPerShard } = topology;
  if (observedPods <= wantedPods) return undefined;
  const crews = crewsOf(topology);
  const lacking = crews.find(({ survivors }) => survivors.length < 1 + replicasPerShard);
  if (lacking) return moveSurvivor(topology, lacking) ?? waiting;
  const isComplete = ({ shard: { primary }, survivors }: Crew) =>
    survivors.every((member) => member === primary || isServing(member));
  return crews.every(isComplete) ? undefined : waiting;
}

/** Nothing can call back a pod that goes, so that they are not needed is told by those that stay, just now. */
export function shrink({ topology }: PlanView): Decision | undefined {
  const { observedPods = 0, wantedPods, members } = topology;
  if (observedPods <= wantedPods) return undefined;
  const isTold = findAwaited(topology).length === 0 && members.every(({ report }) => report.live);
  if (!isTold) return UNHEARD;
  const message = `The pods shrink from ${observedPods} to ${wantedPods}; every shard has its replicas among those that stay.`;
  return { reason: 'OrchestrationStarted', message, pods: wantedPods };
}

/** Volumes of pods that were scaled away, once no pod uses them: by the policy that also decides on the cluster's end. */
export function planLeftoverClaims({ snapshot, topology }: PlanView): Decision | undefined {
  const { observedPods, wantedPods, scaling } = topology;
  if (snapshot.spec.deletionPolicy !== 'Delete' || observedPods !== wantedPods) return undefined;
  const inUse = new Set(snapshot.pods.map(({ ordinal }) => ordinal));
  const leftover = snapshot.claims.filter(
    ({ ordinal, deletionTimestamp }) => ordinal >= wantedPods && !inUse.has(ordinal) && !deletionTimestamp,
  );
  if (leftover.length === 0) return undefined;
  const message = 'Volumes of pods that are not wanted any more are deleted (spec.deletionPolicy is Delete).';
  const actions = leftover.map(({ name, uid }): Action => ({ type: 'DeleteClaim', claim: name, uid }));
  const kind = scaling ?? 'ScaleReplicas';
  const decision: Decision = { kind, reason: 'OrchestrationStarted', message, stages: [actions] };
  // Of a change that is taken back, these are the pods that it had added.
  return { ...decision, undo: decision };
}

const waiting: Decision = {
  reason: 'WaitingForSync',
  message: 'Waiting until the replicas that stay are in sync; then the others go.',
};

function crewsOf(topology: Topology): Crew[] {
  return topology.shards.map((shard) => ({
    shard,
    survivors: [shard.primary, ...shard.replicas].filter((member) => !isDoomed(member, topology)),
  }));
}

/**
 * The survivors are exactly as many as all crews need, so where one crew lacks a member another has one too many. None is taken
 * from a crew that would be left with too few in sync: one that still copies, or hangs, goes before one that has all data.
 */
function moveSurvivor(topology: Topology, { shard: { primary }, survivors }: Crew): Decision | undefined {
  const spare = crewsOf(topology).flatMap(({ shard, survivors: crew }) => {
    const complete = crew.filter((member) => member === shard.primary || isInSync(member));
    const isSpare = (member: Member) =>
      topology.leaving.includes(shard) ||
      complete.filter((other) => other !== member).length > topology.replicasPerShard;
    return crew.filter((member) => member !== shard.primary && isSpare(member));
  });
  const cost = (member: Member) => crowding(member, survivors);
  const [best] = spare.toSorted((a, b) => cost(a) - cost(b) || a.pod.ordinal - b.pod.ordinal);
  return best && attach([{ replica: best, primary }]);
}
