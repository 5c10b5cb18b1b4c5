import type { Action } from '../actions.ts';
import { type Decision, order, type PlanView } from '../decision.ts';
import { crowding } from '../placement.ts';
import { isServing } from '../status/health.ts';
import { type Member, type Shard, offsetOf } from '../topology.ts';
import { attach } from './replicas.ts';

/**
 * Fewer replicas are wanted (C3). Kubernetes removes the highest ordinals, whatever they are, so before that each shard
 * gets its full crew among the survivors and its primary there; only then the StatefulSet shrinks. One step per plan.
 */
export function planScaleIn(view: PlanView): Decision | undefined {
  const { observedPods = 0, wantedPods, shards } = view.topology;
  if (observedPods <= wantedPods) return undefined;
  const isDoomed = ({ pod }: Member) => pod.ordinal >= wantedPods;
  const crews = shards.map((shard) => ({ shard, survivors: crewOf(shard).filter((member) => !isDoomed(member)) }));
  const step = moveSurvivor(view, crews) ?? handOver(crews, isDoomed) ?? waitForSync(crews) ?? shrink(view);
  return { ...step, kind: 'ScaleReplicas' };
}

/** Volumes of pods that were scaled away, once no pod uses them: by the policy that also decides on the cluster's end. */
export function planLeftoverClaims({ snapshot, topology }: PlanView): Decision | undefined {
  const { observedPods, wantedPods } = topology;
  if (snapshot.spec.deletionPolicy !== 'Delete' || observedPods !== wantedPods) return undefined;
  const inUse = new Set(snapshot.pods.map(({ ordinal }) => ordinal));
  const leftover = snapshot.claims.filter(
    ({ ordinal, deletionTimestamp }) => ordinal >= wantedPods && !inUse.has(ordinal) && !deletionTimestamp,
  );
  if (leftover.length === 0) return undefined;
  const message = 'Volumes of replicas that are not wanted any more are deleted (spec.deletionPolicy is Delete).';
  const actions = leftover.map(({ name, uid }): Action => ({ type: 'DeleteClaim', claim: name, uid }));
  return { kind: 'ScaleReplicas', reason: 'OrchestrationStarted', message, stages: [actions] };
}

interface Crew {
  readonly shard: Shard;
  readonly survivors: readonly Member[];
}

function crewOf({ primary, replicas }: Shard): Member[] {
  return [primary, ...replicas];
}

/** The survivors are exactly as many as all crews need, so where one crew lacks a member another has one too many. */
function moveSurvivor({ topology }: PlanView, crews: readonly Crew[]): Decision | undefined {
  const size = 1 + topology.replicasPerShard;
  const lacking = crews.find(({ survivors }) => survivors.length < size);
  if (!lacking) return undefined;
  const spare = crews
    .filter(({ survivors }) => survivors.length > size)
    .flatMap(({ survivors, shard }) => survivors.filter((member) => member !== shard.primary));
  const cost = (member: Member) => crowding(member, lacking.survivors);
  const [best] = spare.toSorted((a, b) => cost(a) - cost(b) || a.pod.ordinal - b.pod.ordinal);
  return best && attach([{ replica: best, primary: lacking.shard.primary }]);
}

/** In agreement with the old primary: no write is lost. */
function handOver(crews: readonly Crew[], isDoomed: (member: Member) => boolean): Decision | undefined {
  for (const { shard, survivors } of crews.filter(({ shard: { primary } }) => isDoomed(primary))) {
    const [heir] = survivors.filter(isServing).toSorted((a, b) => offsetOf(b) - offsetOf(a));
    if (heir === undefined) continue;
    const message = `${heir.pod.name} takes over from ${shard.primary.pod.name}, whose pod is not wanted any more.`;
    const guard = { role: 'replica', primaryId: shard.primary.id, linkUp: true } as const;
    const action = order(heir, { do: 'failover', mode: 'coordinated' }, 'PrimaryHandedOver', guard);
    return {
      reason: 'PrimaryHandedOver',
      message,
      stages: [[action]],
      events: [{ reason: 'PrimaryHandedOver', message }],
    };
  }
  return undefined;
}

function waitForSync(crews: readonly Crew[]): Decision | undefined {
  const isComplete = ({ shard: { primary }, survivors }: Crew) =>
    survivors.includes(primary) && survivors.every((member) => member === primary || isServing(member));
  if (crews.every(isComplete)) return undefined;
  return { reason: 'WaitingForSync', message: 'Waiting until the replicas that stay are in sync; then the others go.' };
}

function shrink({ topology: { observedPods, wantedPods } }: PlanView): Decision {
  const message = `The pods shrink from ${observedPods} to ${wantedPods}; every shard has its replicas among those that stay.`;
  return { reason: 'OrchestrationStarted', message, pods: wantedPods };
}
