import type { OrchestrationKind, ValkeyClusterStatus } from '@valkey-operator/api';
import { childNames } from './builders/names.ts';
import { previousDetail } from './previous-detail.ts';
import { findWithdrawn } from './orchestration/withdrawal.ts';
import type { ChildObject, ClusterSnapshot } from './snapshot.ts';

/** What the cluster should consist of, as far as the spec and its own past tell. */
export interface Expectation {
  /** All slots were served once. */
  readonly formed: boolean;
  /** It has not been Ready yet. */
  readonly creating: boolean;
  /** Its size is being changed, and that is not done yet. */
  readonly scaling: Extract<OrchestrationKind, 'ScaleOut' | 'ScaleIn' | 'ScaleReplicas'> | undefined;
  /** Shards that it must have to be whole: those that it had and shall keep, or will be born with. */
  readonly shardCount: number;
  /** Shards that it shall have. */
  readonly wantedShards: number;
  /** While shards come or go, the fewer of before and after. */
  readonly replicasPerShard: number;
  /** Pods that the spec asks for. */
  readonly wantedPods: number;
  /** Pods that there may be: the wanted ones and those not let go yet. */
  readonly podCount: number;
  /** What the StatefulSet says now. */
  readonly observedPods: number | undefined;
  /** Shards and replicas as last put into effect: what the next look starts from. */
  readonly inEffect: { readonly masterCount: number; readonly replicasPerMaster: number };
}

/** `owners`: how many nodes own slots, heard or not. */
export function expectedPods(snapshot: ClusterSnapshot, owners: number): Expectation {
  const { spec } = snapshot;
  const formed = wasFormed(snapshot);
  const before = previousDetail(snapshot);
  const observedPods = replicasOf(findStatefulSet(snapshot));
  const recorded = formed ? (recordedShards(before) ?? (owners || spec.masterCount)) : spec.masterCount;
  const replicasBefore = (formed ? before.replicasPerMaster : undefined) ?? spec.replicasPerMaster;
  const { masterCount, replicasPerMaster } = wantedSize(snapshot, { recorded, replicasBefore, observedPods });
  const hasArrived = owners === masterCount;
  const replicasPerShard = hasArrived ? replicasPerMaster : Math.min(replicasBefore, replicasPerMaster);
  const wantedPods = masterCount * (1 + replicasPerMaster);
  const { orchestration, pendingOrchestrations = [] } = snapshot.cluster.status ?? {};
  // What a repair has interrupted keeps its place among those that wait.
  const running = [orchestration, ...pendingOrchestrations].flatMap((each) => (each?.id ? [each.kind] : []));
  return {
    formed,
    creating: !formed || orchestration?.kind === 'Create',
    scaling: formed
      ? nameScaling(running, findWithdrawn(snapshot), {
          shards: masterCount - recorded,
          replicas: replicasPerMaster - replicasBefore,
          pods: wantedPods - (observedPods ?? wantedPods),
        })
      : undefined,
    shardCount: Math.min(recorded, masterCount),
    wantedShards: masterCount,
    replicasPerShard,
    wantedPods,
    podCount: Math.max(wantedPods, observedPods ?? 0),
    observedPods,
    // Of what is not done yet, none: a change that is cancelled finds its way back by this.
    inEffect: hasArrived
      ? { masterCount, replicasPerMaster }
      : { masterCount: recorded, replicasPerMaster: replicasBefore },
  };
}

/** What the spec asks for; of a change of size that was cancelled, what was in effect before, or what it has come to. */
function wantedSize(
  snapshot: ClusterSnapshot,
  past: { readonly recorded: number; readonly replicasBefore: number; readonly observedPods: number | undefined },
) {
  const { recorded, replicasBefore, observedPods } = past;
  const { masterCount, replicasPerMaster } = snapshot.spec;
  const withdrawn = findWithdrawn(snapshot);
  if (withdrawn.has('ScaleOut') || withdrawn.has('ScaleIn'))
    return { masterCount: recorded, replicasPerMaster: replicasBefore };
  if (!withdrawn.has('ScaleReplicas') || observedPods === undefined) return { masterCount, replicasPerMaster };
  return { masterCount, replicasPerMaster: Math.max(0, Math.floor(observedPods / masterCount) - 1) };
}

/** What is wanted more or less than before. Once the shards are there, what had begun goes on under its name, and so does its undo. */
function nameScaling(
  running: readonly OrchestrationKind[],
  withdrawn: ReadonlySet<OrchestrationKind>,
  change: { readonly shards: number; readonly replicas: number; readonly pods: number },
): Expectation['scaling'] {
  if (change.shards !== 0) return change.shards > 0 ? 'ScaleOut' : 'ScaleIn';
  const begun = running.find((kind) => kind === 'ScaleOut' || kind === 'ScaleIn');
  if (begun) return change.pods === 0 || withdrawn.has(begun) ? begun : change.pods > 0 ? 'ScaleOut' : 'ScaleIn';
  return running.includes('ScaleReplicas') || change.replicas !== 0 ? 'ScaleReplicas' : undefined;
}

/** The StatefulSet, if it is this cluster's own. */
export function findStatefulSet({ cluster, children }: ClusterSnapshot): ChildObject | undefined {
  const { statefulSet } = childNames(cluster.metadata.name);
  return children.find(
    (child) =>
      child.kind === 'StatefulSet' &&
      child.metadata.name === statefulSet &&
      isControlledBy(child, cluster.metadata.uid),
  );
}

export function isControlledBy({ metadata }: ChildObject, uid: string): boolean {
  return metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) ?? false;
}

/** Until all slots were served once the condition says Creating; afterwards it says so never again. */
function wasFormed({ cluster }: ClusterSnapshot): boolean {
  const condition = cluster.status?.conditions?.find(({ type }) => type === 'SlotsAssigned');
  return condition !== undefined && condition.reason !== 'Creating';
}

function recordedShards({ effectiveSpec }: NonNullable<ValkeyClusterStatus['status']>): number | undefined {
  const recorded = (effectiveSpec as { masterCount?: unknown } | undefined)?.masterCount;
  return typeof recorded === 'number' ? recorded : undefined;
}

function replicasOf(statefulSet: ChildObject | undefined): number | undefined {
  return (statefulSet?.['spec'] as { replicas?: number } | undefined)?.replicas;
}
