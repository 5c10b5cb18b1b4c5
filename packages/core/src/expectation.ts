import type { EffectiveClusterSpec, OrchestrationKind, ValkeyClusterStatus } from '@valkey-operator/api';
import { podCount } from './builders/children-input.ts';
import { childNames } from './builders/names.ts';
import { previousDetail } from './previous-detail.ts';
import { findWithdrawn } from './orchestration/withdrawal.ts';
import type { ChildObject, ClusterSnapshot } from './snapshot.ts';

type Scaling = Extract<OrchestrationKind, 'ScaleOut' | 'ScaleIn' | 'ScaleReplicas'>;
type Size = Pick<EffectiveClusterSpec, 'masterCount' | 'replicasPerMaster'>;

/** What a size comes to. */
interface Wanted {
  /** Shards that it shall have. */
  readonly wantedShards: number;
  /** Pods that there shall be. */
  readonly wantedPods: number;
  /** While shards come or go, the fewer of before and after. */
  readonly replicasPerShard: number;
}

/** What the cluster should consist of, as far as the spec and its own past tell. */
export interface Expectation extends Wanted {
  /** All slots were served once. */
  readonly formed: boolean;
  /** It has not been Ready yet. */
  readonly creating: boolean;
  /** Its size is being changed, and that is not done yet. */
  readonly scaling: Scaling | undefined;
  /** A change of size that adds pods and has not begun: until then the size is the one before, and nobody misses them. */
  readonly growth: (Wanted & { readonly kind: Scaling }) | undefined;
  /** Shards that it must have to be whole: those that it had and shall keep, or will be born with. */
  readonly shardCount: number;
  /** Pods that there may be: the wanted ones and those not let go yet. */
  readonly podCount: number;
  /** What the StatefulSet says now. */
  readonly observedPods: number | undefined;
  /** Shards and replicas as last put into effect: what the next look starts from. */
  readonly inEffect: Size;
}

/** `owners`: how many nodes own slots, heard or not. */
export function expectedPods(snapshot: ClusterSnapshot, owners: number): Expectation {
  const { spec } = snapshot;
  const formed = wasFormed(snapshot);
  const detail = previousDetail(snapshot);
  const observedPods = replicasOf(findStatefulSet(snapshot));
  const recorded = formed ? (recordedShards(detail) ?? (owners || spec.masterCount)) : spec.masterCount;
  const replicasBefore = (formed ? detail.replicasPerMaster : undefined) ?? spec.replicasPerMaster;
  const before = { masterCount: recorded, replicasPerMaster: replicasBefore };
  const { orchestration, pendingOrchestrations = [] } = snapshot.cluster.status ?? {};
  // What a repair has interrupted keeps its place among those that wait.
  const running = [orchestration, ...pendingOrchestrations].flatMap((each) => (each?.id ? [each.kind] : []));
  const asked = askedSize(snapshot, before, observedPods);
  const change = formed ? nameScaling(snapshot, running, { before, asked, observedPods }) : undefined;
  const comeTo = (size: Size): Wanted => ({
    wantedShards: size.masterCount,
    wantedPods: podCount(size),
    replicasPerShard:
      owners === size.masterCount ? size.replicasPerMaster : Math.min(replicasBefore, size.replicasPerMaster),
  });
  const mustGrow = podCount(asked) > (observedPods ?? Infinity) && !running.some(isScaling);
  const growth = change && mustGrow ? { kind: change, ...comeTo(asked) } : undefined;
  const size = growth ? before : asked;
  return {
    formed,
    creating: !formed || orchestration?.kind === 'Create',
    scaling: growth ? undefined : change,
    growth,
    shardCount: Math.min(recorded, size.masterCount),
    ...comeTo(size),
    podCount: Math.max(podCount(size), observedPods ?? 0),
    observedPods,
    // Of what is not done yet, none: a change that is cancelled finds its way back by this.
    inEffect: owners === size.masterCount ? size : before,
  };
}

/** What the spec asks for; of a change of size that was cancelled, what was in effect before, or what it has come to. */
function askedSize(snapshot: ClusterSnapshot, before: Size, observedPods: number | undefined): Size {
  const { masterCount, replicasPerMaster } = snapshot.spec;
  const withdrawn = findWithdrawn(snapshot);
  if (withdrawn.has('ScaleOut') || withdrawn.has('ScaleIn')) return before;
  if (!withdrawn.has('ScaleReplicas') || observedPods === undefined) return { masterCount, replicasPerMaster };
  return { masterCount, replicasPerMaster: Math.max(0, Math.floor(observedPods / masterCount) - 1) };
}

/** What is wanted more or less than before. Once the shards are there, what had begun goes on under its name, and so does its undo. */
function nameScaling(
  snapshot: ClusterSnapshot,
  running: readonly OrchestrationKind[],
  change: { readonly before: Size; readonly asked: Size; readonly observedPods: number | undefined },
): Scaling | undefined {
  const { before, asked, observedPods } = change;
  const shards = asked.masterCount - before.masterCount;
  if (shards !== 0) return shards > 0 ? 'ScaleOut' : 'ScaleIn';
  const begun = running.find((kind) => kind === 'ScaleOut' || kind === 'ScaleIn');
  const pods = podCount(asked) - (observedPods ?? podCount(asked));
  if (begun) return pods === 0 || findWithdrawn(snapshot).has(begun) ? begun : pods > 0 ? 'ScaleOut' : 'ScaleIn';
  const isOfReplicas = running.includes('ScaleReplicas') || asked.replicasPerMaster !== before.replicasPerMaster;
  return isOfReplicas ? 'ScaleReplicas' : undefined;
}

function isScaling(kind: OrchestrationKind): kind is Scaling {
  return kind === 'ScaleOut' || kind === 'ScaleIn' || kind === 'ScaleReplicas';
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
