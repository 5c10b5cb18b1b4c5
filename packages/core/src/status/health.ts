import type { OrchestrationKind, Reason } from '@valkey-operator/api';
import { SLOT_COUNT } from '@valkey-operator/valkey';
import type { PlanView } from '../decision.ts';
import { isInSync, isOwner, type Member, type Shard, type Topology } from '../topology.ts';
import { listNames } from './list-names.ts';
import { isPaused } from './paused.ts';

export interface Finding {
  readonly reason: Reason;
  readonly message: string;
}

/** How much of what the spec asks for is there and serves. */
export interface Health {
  readonly servedSlots: number;
  readonly readyPrimaries: number;
  readonly wantedPrimaries: number;
  readonly readyReplicas: number;
  readonly wantedReplicas: number;
  /** What keeps the cluster from being Ready, the most telling first. */
  readonly shortcomings: readonly Finding[];
}

export function assessHealth({ topology }: PlanView): Health {
  const { shards, silent, wantedShards, replicasPerShard } = topology;
  const unheard = silent.filter(({ seenAlive }) => seenAlive).reduce((sum, { slots }) => sum + slots.count, 0);
  const replicas = shards.flatMap((shard) => shard.replicas);
  return {
    servedSlots: shards.reduce((sum, { slots }) => sum + slots.count, unheard),
    readyPrimaries: shards.filter(({ primary }) => primary.report.ready).length,
    wantedPrimaries: wantedShards,
    readyReplicas: replicas.filter(isServing).length,
    wantedReplicas: wantedShards * replicasPerShard,
    shortcomings: findShortcomings(topology, unheard),
  };
}

/**
 * As it is told: what a pause keeps from being added is not missing, but waits, and the Paused condition says so. What begins to
 * be added with this look is: `running` is what goes on.
 */
export function assessToldHealth(view: PlanView, running: OrchestrationKind | undefined): Health {
  const { snapshot, topology } = view;
  const { growth } = topology;
  if (growth && growth.kind === running) return assessHealth({ ...view, topology: { ...topology, ...growth } });
  const { replicasPerShard, shardCount, wantedPods, observedPods = wantedPods } = topology;
  if (!isPaused(snapshot) || !topology.formed) return assessHealth(view);
  const present = Math.max(0, Math.floor(observedPods / shardCount) - 1);
  return assessHealth({ ...view, topology: { ...topology, replicasPerShard: Math.min(replicasPerShard, present) } });
}

function findShortcomings(topology: Topology, unheard: number): Finding[] {
  const { shards, leaving, creating, replicasPerShard } = topology;
  const served = shards.reduce((sum, { slots }) => sum + slots.count, unheard);
  const findings: Finding[] = [];
  if (served < SLOT_COUNT) {
    const reason = creating ? 'Creating' : 'SlotsUncovered';
    findings.push({ reason, message: `${SLOT_COUNT - served} of ${SLOT_COUNT} slots are not served.` });
  }
  // One that was given its first slots a moment ago has told neither that it has them nor that it serves them.
  const unready = shards.map(({ primary }) => primary).filter(({ report, slots }) => !report.ready && !slots.isEmpty);
  if (unready.length > 0 || isAwaited(topology)) findings.push(describeUnready(topology, unready));
  const short = shards.filter(
    (shard) => !leaving.includes(shard) && shard.replicas.filter(isServing).length < replicasPerShard,
  );
  const lacking = short.filter(({ replicas }) => replicas.length < replicasPerShard);
  if (lacking.length > 0) findings.push(describeLacking(topology, lacking));
  const lagging = short.flatMap(({ replicas }) => replicas.filter((replica) => !isServing(replica)));
  if (lagging.length > 0) findings.push(describeLagging(lagging));
  return findings;
}

/** A primary that is not heard. Fewer shards than there were, but with all slots, are no fault: some were emptied. */
function isAwaited({ formed, shards, silent, shardCount }: Topology): boolean {
  return formed ? silent.some(isOwner) : shards.length < shardCount;
}

function describeUnready({ creating, missing }: Topology, unready: readonly Member[]): Finding {
  const reason = creating ? 'Creating' : 'WaitingForPods';
  const [first] = unready;
  if (first)
    return {
      reason,
      message: `Primary ${first.pod.name} does not serve yet: ${first.report.message || 'its sidecar has not confirmed it'}.`,
    };
  const waiting = missing.length > 0 ? ` Waiting for ${listNames(missing.map(({ name }) => name))}.` : '';
  return { reason, message: `Not every primary is up.${waiting}` };
}

function describeLacking({ creating, missing }: Topology, shards: readonly Shard[]): Finding {
  const names = listNames(shards.map(({ primary }) => primary.pod.name));
  const waiting = missing.length > 0 ? ` Waiting for ${listNames(missing.map(({ name }) => name))}.` : '';
  return {
    reason: creating ? 'Creating' : 'ReplicaMissing',
    message: `${names} ${shards.length === 1 ? 'has' : 'have'} fewer replicas than wanted.${waiting}`,
  };
}

function describeLagging(replicas: readonly Member[]): Finding {
  const names = listNames(replicas.map(({ pod }) => pod.name));
  const verb = replicas.length === 1 ? 'receives its' : 'receive their';
  return { reason: 'WaitingForSync', message: `${names} ${verb} data from the primary.` };
}

/** A replica that could take over and whose sidecar says so. */
export function isServing(replica: Member): boolean {
  return isInSync(replica) && replica.report.ready;
}
