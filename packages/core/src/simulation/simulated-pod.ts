import { type EffectiveClusterSpec, parseQuantity } from '@valkey-operator/api';
import { EXPORTER } from '../builders/exporter.ts';
import { type NodeSettings, settingsOfNode } from '../builders/settings.ts';
import type { ExporterView, NodeView, PodView } from '../snapshot.ts';
import type { SimulatedNode } from './simulated-node.ts';

export interface SimulatedPod {
  readonly name: string;
  readonly hostname: string;
  readonly ordinal: number;
  readonly uid: string;
  readonly ip: string;
  readonly kubernetesNode: string;
  readonly zone: string;
  /** `absent`: it has not been started in this pod yet. */
  process: 'running' | 'gated' | 'down' | 'absent';
  gatedSince: number;
  node: SimulatedNode | undefined;
  /** Whether its sidecar reaches the operator. */
  heard: boolean;
  lastReport: NodeView | undefined;
  labels: Record<string, string>;
  /** What its Valkey runs with. */
  settings: NodeSettings;
  /** What its Valkey was started with. */
  startedWith: NodeSettings['settings'];
  /** What its Valkey refused last. */
  rejected: { readonly hash: string; readonly message: string } | undefined;
  /** Values that its Valkey does not take. */
  readonly refuses: Set<string>;
  /** What its Valkey said of a setting before it ended at its start. */
  lastWords: string | undefined;
  /** Of the template that it was made of. */
  readonly annotations: Record<string, string>;
  readonly image: string;
  readonly version: string;
  readonly createdAt: number;
  /** What its kubelet says, and since when. */
  readiness: { readonly ready: boolean; readonly changedAt: number };
  /** Its image cannot be pulled. */
  readonly broken: boolean;
  /** None in a pod that was made without one. */
  exporter: 'running' | 'broken' | undefined;
  /** Bytes that it asks its node for. */
  memory: number;
  /** What has become of its other resources, while it does not have them. */
  resize: 'told' | 'begun' | 'pending' | undefined;
  /** No node has what it asks for. */
  readonly homeless: boolean;
}

export interface RunningPod extends SimulatedPod {
  node: SimulatedNode;
}

export function isRunning(pod: SimulatedPod): pod is RunningPod {
  return pod.process === 'running' && pod.node !== undefined;
}

/** The pod as the operator sees it: with the last report that reached it. */
export function viewPod(pod: SimulatedPod, now: number, stock: Pick<NodeView, 'dataState' | 'memory'>): PodView {
  if (pod.heard && !pod.homeless) pod.lastReport = viewNode(pod, now, stock);
  const ready = isReady(pod);
  if (ready !== pod.readiness.ready) pod.readiness = { ready, changedAt: now };
  const { name, uid, ordinal, ip, kubernetesNode, zone, labels, annotations, createdAt } = pod;
  const waiting = whyWaiting(pod);
  return {
    name,
    uid,
    ordinal,
    ip,
    kubernetesNode,
    zone,
    labels,
    phase: pod.homeless ? 'Pending' : 'Running',
    ready,
    readyChangedAt: pod.readiness.changedAt,
    createdAt,
    annotations,
    finalizers: [],
    valkeyRestarts: 0,
    ...(waiting && { waiting }),
    ...(pod.exporter && { exporter: viewExporter(pod, pod.exporter) }),
    ...(pod.homeless && { unschedulable: '0/3 nodes are available: 3 Insufficient memory' }),
    ...((pod.resize === 'told' || pod.resize === 'begun') && { resizing: true }),
    ...(pod.resize === 'pending' && { resizePending: "Node didn't have enough resource: memory" }),
    ...(pod.lastReport && { report: { ...pod.lastReport, live: pod.heard } }),
  };
}

function isReady({ node }: SimulatedPod): boolean {
  return node?.role === 'primary' ? !node.slots.isEmpty : node?.linkUp === true;
}

function whyWaiting({ broken, image, process, lastWords }: SimulatedPod): PodView['waiting'] {
  if (broken) return { container: 'valkey', reason: 'ImagePullBackOff', message: `no image ${image}` };
  if (process !== 'down' || lastWords === undefined) return undefined;
  return { container: 'valkey', reason: 'CrashLoopBackOff', message: 'back-off', lastWords };
}

function viewExporter({ createdAt, homeless }: SimulatedPod, state: 'running' | 'broken'): ExporterView {
  if (state === 'running' && !homeless) return { ready: true, restarts: 0, startedAt: createdAt };
  const waiting = { container: EXPORTER, reason: 'ImagePullBackOff', message: 'no such image' };
  return { ready: false, restarts: 0, unreadySince: createdAt, ...(state === 'broken' && { waiting }) };
}

function viewNode(pod: SimulatedPod, now: number, stock: Pick<NodeView, 'dataState' | 'memory'>): NodeView {
  const { node, process } = pod;
  const gate = { reason: 'REPLICA_MAY_HAVE_MORE_DATA', message: 'held', since: pod.gatedSince };
  return {
    receivedAt: now,
    live: true,
    process: {
      state: process === 'down' ? 'exited' : process,
      restarts: 0,
      ...(node && { version: pod.version }),
      ...(process === 'gated' && { gate }),
    },
    ...(isRunning(pod) && { cluster: viewCluster(pod, now) }),
    ...(node && {
      replication: {
        offset: node.offset,
        linkUp: node.linkUp,
        syncInProgress: node.syncing,
        syncedOnce: node.syncedOnce,
      },
      ...(node.move && { move: node.move }),
    }),
    config: {
      runningHash: pod.settings.hash,
      renderedHash: pod.settings.hash,
      message: '',
      restartFor: waitsForRestart(pod),
      ...(pod.rejected && { rejected: pod.rejected }),
    },
    ...stock,
    ready: isReady(pod),
    message: '',
  };
}

/** A kubelet sees the order first, and then carries it out if its node has the memory. */
export function carryOutResize(pod: SimulatedPod, nodeMemory: number): void {
  if (pod.resize === 'begun') pod.resize = undefined;
  if (pod.resize === 'told' || pod.resize === 'pending') pod.resize = pod.memory > nodeMemory ? 'pending' : 'begun';
}

export function memoryOf(resources: EffectiveClusterSpec['resources'] | undefined): number {
  return parseQuantity(resources?.requests?.memory ?? '') ?? 0;
}

export function noSettings() {
  return {
    settings: { hash: '', settings: {} },
    startedWith: {},
    rejected: undefined,
    lastWords: undefined,
    refuses: new Set<string>(),
  };
}

/** What lies in the ConfigMap when its Valkey starts. */
export function readSettings(pod: SimulatedPod, found: NodeSettings | undefined): void {
  if (found) pod.settings = { hash: found.hash, settings: settingsOfNode(found, pod.name) };
  pod.startedWith = pod.settings.settings;
}

/** What Valkey says when it cannot start with what it has read. */
export function giveUp({ startedWith }: SimulatedPod, fatal: ReadonlySet<string>): string | undefined {
  const lines = Object.entries(startedWith).map(([name, value]) => `${name} "${value}"`);
  const line = lines.find((each) => fatal.has(each));
  return (
    line &&
    `*** FATAL CONFIG FILE ERROR (Version 9.1.2) ***\nReading the configuration file, at line 9\n>>> '${line}'\nargument must be between 1 and 64`
  );
}

function waitsForRestart({ settings: { settings }, startedWith }: SimulatedPod): string[] {
  return ['databases', 'tcp-backlog'].filter((name) => settings[name] !== startedWith[name]);
}

const FAILURE_FLAGS = { no: [], suspected: ['fail?'], agreed: ['fail'] };

/** So long a sidecar tells what a search has found. */
const NEWS_MS = 10_000;

function viewCluster(pod: RunningPod, now: number): NonNullable<NodeView['cluster']> {
  const { id, role, primaryId, epoch, slots, table, importing, migrating, search } = pod.node;
  const own = {
    id,
    ip: pod.ip,
    hostname: pod.hostname,
    primaryId,
    epoch,
    slots,
    connected: true,
    failing: 'no',
  } as const;
  const nodes = [own, ...table.values()].map((line) => ({
    id: line.id,
    ip: line.ip,
    port: 6379,
    hostname: line.hostname,
    flags: [...(line === own ? ['myself'] : []), line.primaryId ? 'slave' : 'master', ...FAILURE_FLAGS[line.failing]],
    configEpoch: line.epoch,
    linkConnected: line.connected,
    slots: line.slots.toString(),
    ...(line.primaryId && { primaryId: line.primaryId }),
    ...('clientIp' in line && line.clientIp && { clientIp: line.clientIp }),
  }));
  return {
    nodeId: id,
    shardId: `shard-of-${primaryId ?? id}`,
    role,
    ...(primaryId && { primaryId }),
    configEpoch: epoch,
    currentEpoch: epoch,
    stateOk: true,
    slots: slots.toString(),
    slotsAssigned: 0,
    slotsOk: 0,
    nodes,
    ...(search && now - search.at < NEWS_MS && { search }),
    openSlots: [
      ...Array.from(importing, ([slot, importingFrom]) => ({ slot, importingFrom })),
      ...Array.from(migrating, ([slot, migratingTo]) => ({ slot, migratingTo })),
    ],
  };
}
