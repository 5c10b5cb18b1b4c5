import { parseQuantity } from '@valkey-operator/api';
import { EXPORTER, type NodeView, type PodView } from '@valkey-operator/core';
import type { Live, Pod } from '@valkey-operator/kube';

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];
type WaitingContainer = NonNullable<PodView['waiting']>;

/** A container that waits for these only waits for its turn. */
const ORDINARY_WAITS = new Set(['PodInitializing', 'ContainerCreating']);

export interface PodFacts {
  /** By Kubernetes node. */
  zones: ReadonlyMap<string, string | undefined>;
  report?: NodeView | undefined;
  /** The address that the sidecar gives: at birth it is known a second sooner than the kubelet writes it into the status. */
  reportedIp?: string | undefined;
}

/** A pod as the planner sees it: where it is, how it is, and what its sidecar said. */
export function viewPod(pod: Live<Pod>, { zones, report, reportedIp }: PodFacts): PodView {
  const { metadata, spec, status } = pod;
  const { name, uid, creationTimestamp, deletionTimestamp, labels = {}, annotations = {}, finalizers = [] } = metadata;
  const kubernetesNode = spec?.nodeName;
  return {
    name,
    uid,
    ordinal: ordinalOf(name),
    phase: (status?.phase ?? 'Unknown') as PodView['phase'],
    createdAt: Date.parse(creationTimestamp ?? ''),
    labels,
    annotations,
    finalizers,
    valkeyRestarts: findContainer(pod, 'valkey')?.restartCount ?? 0,
    ...viewReadiness(pod),
    ...withoutUndefined({
      ip: status?.podIP ?? reportedIp,
      kubernetesNode,
      zone: kubernetesNode === undefined ? undefined : zones.get(kubernetesNode),
      deletionTimestamp,
      unschedulable: whyUnschedulable(pod),
      waiting: findStuckContainer(pod),
      exporter: viewExporter(pod),
      ...viewResize(pod),
      report,
    }),
  };
}

/**
 * Whether a sidecar can be reached: it runs, or has been heard. Before, there is nobody to connect to; afterwards, when the
 * pod is over, there never will be.
 */
export function hasSidecar({ status }: Live<Pod>, isHeard: boolean): boolean {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return false;
  const sidecar = status?.initContainerStatuses?.find(({ name }) => name === 'sidecar');
  return isHeard || sidecar?.state?.running !== undefined;
}

/** The number at the end of a StatefulSet's pod, or of the claim of such a pod. */
export function ordinalOf(name: string): number {
  return Number(/-(\d+)$/.exec(name)?.[1] ?? -1);
}

export function withoutUndefined<T extends object>(object: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const known = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [K in keyof T]?: NonNullable<T[K]> };
}

function findCondition({ status }: Live<Pod>, type: string) {
  return status?.conditions?.find((condition) => condition.type === type);
}

function whyUnschedulable(pod: Live<Pod>): string | undefined {
  const scheduled = findCondition(pod, 'PodScheduled');
  // Others make sentences of it.
  return scheduled?.status === 'False' ? (scheduled.message ?? scheduled.reason)?.replace(/\.$/, '') : undefined;
}

/**
 * The API server takes a resize that the kubelet may not be able to carry out. As long as that has not seen it, what it says is of
 * an earlier one.
 */
function viewResize(pod: Live<Pod>): Pick<PodView, 'resizing' | 'resizePending'> {
  const { generation = 0, deletionTimestamp } = pod.metadata;
  const { observedGeneration } = pod.status ?? {};
  const isLeaving = deletionTimestamp !== undefined;
  if (!isLeaving && observedGeneration !== undefined && observedGeneration < generation) return { resizing: true };
  const progress = findCondition(pod, 'PodResizeInProgress');
  const obstacle = findCondition(pod, 'PodResizePending') ?? (progress?.reason === 'Error' ? progress : undefined);
  if (obstacle) return { resizePending: obstacle.message ?? obstacle.reason ?? '' };
  const isUnseen = !isLeaving && observedGeneration === undefined && hasLessThanPromised(pod);
  return progress?.status === 'True' || isUnseen ? { resizing: true } : {};
}

/** Before Kubernetes 1.34 no kubelet says what it has seen, but what the container has: the limits that its runtime tells. */
function hasLessThanPromised({ spec, status }: Live<Pod>): boolean {
  const isValkey = ({ name }: { name: string }) => name === 'valkey';
  const promised = spec?.containers.find(isValkey)?.resources?.limits ?? {};
  const present = status?.containerStatuses?.find(isValkey)?.resources?.limits ?? {};
  const amount = (limit: string | undefined) => (limit === undefined ? Infinity : (parseQuantity(limit) ?? Infinity));
  return Object.entries(promised).some(([name, limit]) => amount(present[name]) < amount(limit));
}

/**
 * Kubernetes knows only of the pod as a whole. Where that is not ready because its exporter is not, Valkey's container says how
 * Valkey is, and when it was started last: what became of it before, the pod does not tell.
 */
function viewReadiness(pod: Live<Pod>): Pick<PodView, 'ready' | 'readyChangedAt'> {
  const readiness = findCondition(pod, 'Ready');
  const exporter = viewExporter(pod);
  const valkey = findContainer(pod, 'valkey');
  if (readiness?.status === 'True' || !valkey || exporter?.ready !== false)
    return { ready: readiness?.status === 'True', ...withTime('readyChangedAt', readiness?.lastTransitionTime) };
  const { state, lastState } = valkey;
  const changedAt = state?.running?.startedAt ?? lastState?.terminated?.finishedAt ?? readiness?.lastTransitionTime;
  return { ready: valkey.ready, ...withTime('readyChangedAt', changedAt) };
}

function viewExporter(pod: Live<Pod>): PodView['exporter'] {
  if (!pod.spec?.containers.some(({ name }) => name === EXPORTER)) return undefined;
  const container = findContainer(pod, EXPORTER);
  const { ready = false, restartCount: restarts = 0, state } = container ?? {};
  const waiting = container && viewWaiting(container);
  return {
    ready,
    restarts,
    ...withTime('startedAt', state?.running?.startedAt),
    ...(ready ? {} : withTime('unreadySince', findCondition(pod, 'Ready')?.lastTransitionTime)),
    ...(waiting && { waiting }),
  };
}

function findStuckContainer({ status }: Live<Pod>): PodView['waiting'] {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return containers
    .filter(({ name }) => name !== EXPORTER)
    .map(viewWaiting)
    .find((waiting) => waiting !== undefined);
}

function viewWaiting({ name: container, state, lastState }: ContainerStatus): WaitingContainer | undefined {
  const { reason, message = '' } = state?.waiting ?? {};
  if (!reason || ORDINARY_WAITS.has(reason)) return undefined;
  const lastWords = lastState?.terminated?.message;
  return { container, reason, message, ...(lastWords && { lastWords }) };
}

function findContainer({ status }: Live<Pod>, name: string): ContainerStatus | undefined {
  return status?.containerStatuses?.find((container) => container.name === name);
}

function withTime<K extends string>(key: K, time: string | undefined): { [_ in K]?: number } {
  return (time ? { [key]: Date.parse(time) } : {}) as { [_ in K]?: number };
}
