import type { ValkeyClusterStatus } from '@valkey-operator/api';
import { childNames } from './builders/names.ts';
import type { ChildObject, ClusterSnapshot } from './snapshot.ts';

/** What the cluster should consist of, as far as the spec and its own past tell. */
export interface Expectation {
  /** All slots were served once. */
  readonly formed: boolean;
  /** It has not been Ready yet. */
  readonly creating: boolean;
  /** replicasPerMaster has changed, and that is not done yet. */
  readonly scaling: boolean;
  /** Shards that it has, or will be born with. A later change of masterCount needs slots to move first. */
  readonly shardCount: number;
  readonly replicasPerShard: number;
  /** Pods that the spec asks for with that many shards. */
  readonly wantedPods: number;
  /** Pods that there may be: the wanted ones and those not let go yet. */
  readonly podCount: number;
  /** What the StatefulSet says now. */
  readonly observedPods: number | undefined;
}

export function expectedPods(snapshot: ClusterSnapshot, owners: number): Expectation {
  const { spec } = snapshot;
  const formed = wasFormed(snapshot);
  const running = snapshot.cluster.status?.orchestration?.kind;
  const { replicasPerMaster: before } = previousDetail(snapshot);
  const recorded = recordedShards(snapshot);
  const shardCount = formed ? (recorded ?? (owners || spec.masterCount)) : spec.masterCount;
  const wantedPods = shardCount * (1 + spec.replicasPerMaster);
  const observedPods = replicasOf(findStatefulSet(snapshot));
  return {
    formed,
    creating: !formed || running === 'Create',
    scaling: formed && (running === 'ScaleReplicas' || (before ?? spec.replicasPerMaster) !== spec.replicasPerMaster),
    shardCount,
    replicasPerShard: spec.replicasPerMaster,
    wantedPods,
    podCount: Math.max(wantedPods, observedPods ?? 0),
    observedPods,
  };
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

/** The detail as it was written last. */
export function previousDetail({ cluster, children }: ClusterSnapshot): NonNullable<ValkeyClusterStatus['status']> {
  const name = childNames(cluster.metadata.name).status;
  const found = children.find(({ kind, metadata }) => kind === 'ValkeyClusterStatus' && metadata.name === name);
  return (found?.['status'] as ValkeyClusterStatus['status']) ?? {};
}

/** Until all slots were served once the condition says Creating; afterwards it says so never again. */
function wasFormed({ cluster }: ClusterSnapshot): boolean {
  const condition = cluster.status?.conditions?.find(({ type }) => type === 'SlotsAssigned');
  return condition !== undefined && condition.reason !== 'Creating';
}

function recordedShards(snapshot: ClusterSnapshot): number | undefined {
  const { effectiveSpec } = previousDetail(snapshot);
  const recorded = (effectiveSpec as { masterCount?: unknown } | undefined)?.masterCount;
  return typeof recorded === 'number' ? recorded : undefined;
}

function replicasOf(statefulSet: ChildObject | undefined): number | undefined {
  return (statefulSet?.['spec'] as { replicas?: number } | undefined)?.replicas;
}
