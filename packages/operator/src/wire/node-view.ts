import { durationMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { KnownNodeView, NodeClusterView, NodeView, SlotMoveView } from '@valkey-operator/core';
import {
  CertificatePurpose,
  type ClusterReport,
  ClusterState,
  type ConfigReport,
  DataState,
  GateReason,
  type KnownNode,
  LinkState,
  MoveState,
  type NodeReport,
  type OpenSlot,
  type ProcessReport,
  ProcessState,
  Role,
  type SlotMigration,
  type SlotMove,
} from '@valkey-operator/rpc';

/** The report as plain values that the planner, which knows no wire, can decide on. */
export function toNodeView(report: NodeReport, receivedAt: number, live: boolean): NodeView {
  const { cluster, replication, memory } = report;
  const certificate = report.certificates.find(({ purpose }) => purpose === CertificatePurpose.MTLS);
  return {
    receivedAt,
    live,
    process: toProcess(report.process),
    // A node whose role is not known is not known: it must not pass for a primary.
    ...(cluster && cluster.role !== Role.UNSPECIFIED && { cluster: toCluster(cluster) }),
    ...(replication && {
      replication: {
        offset: Number(replication.offset),
        linkUp: replication.link === LinkState.UP,
        syncInProgress: replication.syncInProgress,
        syncedOnce: replication.syncedOnce,
      },
    }),
    ...(memory && {
      memory: {
        usedBytes: Number(memory.usedBytes),
        maxBytes: Number(memory.maxBytes),
        keys: Number(memory.keys),
        ...(memory.expiringHashes > 0n && { expiringHashes: Number(memory.expiringHashes) }),
      },
    }),
    ...(report.persistence?.aofRewriteInProgress && { rewritesFile: true }),
    ...(report.slotMove && { move: toMove(report.slotMove) }),
    config: toConfig(report.config),
    dataState: DATA_STATES[report.data?.state ?? DataState.UNSPECIFIED] ?? 'unknown',
    ...(certificate?.notAfter && {
      certificate: { thumbprint: certificate.thumbprint, notAfter: timestampMs(certificate.notAfter) },
    }),
    ready: report.readiness?.ready ?? false,
    message: report.readiness?.message ?? '',
  };
}

function toConfig(config: ConfigReport | undefined): NodeView['config'] {
  const { restartFor = [], drift = [], rejectedHash, rejectedMessage = '' } = config ?? {};
  return {
    runningHash: config?.runningHash ?? '',
    renderedHash: config?.renderedHash ?? '',
    message: config?.message ?? '',
    ...(restartFor.length > 0 && { restartFor }),
    ...(drift.length > 0 && { drift: drift.map(({ name, is, should }) => ({ name, is, should })) }),
    ...(rejectedHash && { rejected: { hash: rejectedHash, message: rejectedMessage } }),
  };
}

function toProcess(process: ProcessReport | undefined): NodeView['process'] {
  const gate = process?.gate;
  return {
    state: PROCESS_STATES[process?.state ?? ProcessState.UNSPECIFIED] ?? 'unknown',
    ...(gate && {
      gate: {
        reason: GATE_REASONS[gate.reason] ?? 'unknown',
        message: gate.message,
        since: gate.since ? timestampMs(gate.since) : 0,
      },
    }),
    ...(process?.version && { version: process.version }),
    ...(process?.runId && { runId: process.runId }),
    ...(process?.startedAt && { startedAt: timestampMs(process.startedAt) }),
    restarts: process?.restarts ?? 0,
  };
}

function toCluster(cluster: ClusterReport): NodeClusterView {
  return {
    nodeId: cluster.nodeId,
    shardId: cluster.shardId,
    role: cluster.role === Role.REPLICA ? 'replica' : 'primary',
    ...(cluster.primaryId && { primaryId: cluster.primaryId }),
    configEpoch: Number(cluster.configEpoch),
    currentEpoch: Number(cluster.currentEpoch),
    stateOk: cluster.state === ClusterState.OK,
    slots: cluster.slots,
    slotsAssigned: cluster.slotsAssigned,
    slotsOk: cluster.slotsOk,
    nodes: cluster.nodes.map(toKnownNode),
    openSlots: cluster.openSlots.map(toOpenSlot),
    ...(cluster.search && { search: { slots: cluster.search.slots, withKeys: cluster.search.withKeys } }),
    exports: cluster.migrations.filter(isExport(cluster.nodeId)).map(({ slots, targetId }) => ({ slots, targetId })),
  };
}

function toKnownNode(node: KnownNode): KnownNodeView {
  const { id, ip, port, hostname, clientIp, flags, primaryId, linkConnected, slots } = node;
  const configEpoch = Number(node.configEpoch);
  return {
    id,
    ip,
    port,
    flags,
    configEpoch,
    linkConnected,
    slots,
    ...(hostname && { hostname }),
    ...(clientIp && { clientIp }),
    ...(primaryId && { primaryId }),
  };
}

function toOpenSlot({ slot, direction }: OpenSlot): NodeClusterView['openSlots'][number] {
  if (direction.case === 'importingFrom') return { slot, importingFrom: direction.value };
  return direction.case === 'migratingTo' ? { slot, migratingTo: direction.value } : { slot };
}

const ENDED = ['success', 'failed', 'cancelled'];

/** Imports are told by their source. */
function isExport(nodeId: string): (migration: SlotMigration) => boolean {
  return ({ sourceId, state }) => sourceId === nodeId && !ENDED.includes(state);
}

function toMove({ state, movedKeys, leftKeys, elapsed, overFor, ...move }: SlotMove): SlotMoveView {
  const { targetId, slots, movedSlots, failures, message, notableKeys } = move;
  return {
    state: MOVE_STATES[state] ?? 'unknown',
    targetId,
    slots,
    movedSlots,
    movedKeys: Number(movedKeys),
    leftKeys: Number(leftKeys),
    elapsedMs: elapsed ? durationMs(elapsed) : 0,
    ...(overFor && { overForMs: durationMs(overFor) }),
    failures,
    message,
    notableKeys,
  };
}

// A sidecar of the next version may say something that is not in these tables: then it is not known.
const PROCESS_STATES: Partial<Record<ProcessState, NodeView['process']['state']>> = {
  [ProcessState.ABSENT]: 'absent',
  [ProcessState.GATED]: 'gated',
  [ProcessState.STARTING]: 'starting',
  [ProcessState.LOADING]: 'loading',
  [ProcessState.RUNNING]: 'running',
  [ProcessState.UNRESPONSIVE]: 'unresponsive',
  [ProcessState.STOPPING]: 'stopping',
  [ProcessState.EXITED]: 'exited',
};

const MOVE_STATES: Partial<Record<MoveState, SlotMoveView['state']>> = {
  [MoveState.RUNNING]: 'running',
  [MoveState.DONE]: 'done',
  [MoveState.FAILED]: 'failed',
  [MoveState.CANCELLED]: 'cancelled',
};

const DATA_STATES: Partial<Record<DataState, NodeView['dataState']>> = {
  [DataState.EMPTY]: 'empty',
  [DataState.IDENTITY_ONLY]: 'identity-only',
  [DataState.PRESENT]: 'present',
};

const GATE_REASONS: Partial<Record<GateReason, string>> = Object.fromEntries(
  Object.entries(GateReason).map(([name, value]) => [value, name]),
);
