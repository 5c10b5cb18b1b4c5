import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { durationFromMs, timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  CertificatePurpose,
  ClusterState,
  CONTRACT_REVISION,
  DataState,
  ExitReason,
  GateReason,
  LinkState,
  MoveState,
  NodeReportSchema,
  ProcessState,
  Role,
  type ClusterReportSchema,
  type ConfigReportSchema,
  type KnownNodeSchema,
  type NodeReport,
  type ProcessReportSchema,
  type ReplicationReportSchema,
  type SlotMoveSchema,
} from '@valkey-operator/rpc';
import type { CertificateFacts } from '@valkey-operator/pki/verify';
import type { ClusterNode, PersistenceInfo, ReplicationInfo, SlotMigration, SlotSet } from '@valkey-operator/valkey';
import type { DataOnDisk } from './data-directory.ts';
import type { Environment } from './environment.ts';
import type { Verdict } from './readiness.ts';
import type { ClusterFacts, ValkeyFacts } from './valkey-facts.ts';
import type { MoveProgress } from './slot-move/slot-mover.ts';
import type { Findings } from './slot-search.ts';
import type { GateHold } from './start-gate/start-gate.ts';
import type { ProcessEnd, ProcessView } from './valkey-watch.ts';

/** Everything that a report is made of. */
export interface ReportInput {
  readonly environment: Environment;
  readonly bootId: string;
  readonly sequence: bigint;
  readonly now: Date;
  readonly leaderEpoch: bigint;
  readonly view: ProcessView;
  readonly isStopping: boolean;
  readonly facts: ValkeyFacts | undefined;
  readonly move: MoveProgress | undefined;
  readonly search: Findings | undefined;
  readonly config: MessageInitShape<typeof ConfigReportSchema>;
  readonly data: { readonly disk: DataOnDisk; readonly marker: string; readonly freeBytes: bigint };
  readonly certificate: { readonly leaf: CertificateFacts | undefined; readonly message: string };
  readonly readiness: Verdict;
}

export function buildReport(input: ReportInput): NodeReport {
  const { environment, facts, view } = input;
  const { pod, cluster, version } = environment;
  const { info } = facts ?? {};
  return create(NodeReportSchema, {
    contractRevision: CONTRACT_REVISION,
    pod: { ...pod, cluster },
    sidecarVersion: version,
    bootId: input.bootId,
    sequence: input.sequence,
    observedAt: timestampFromDate(input.now),
    leaderEpoch: input.leaderEpoch,
    process: describeProcess(view, facts, input.isStopping),
    ...(facts?.cluster && { cluster: describeCluster(facts.cluster, input.search) }),
    ...(info?.replication && { replication: describeReplication(info.replication, view) }),
    ...(info?.memory && {
      memory: {
        usedBytes: BigInt(info.memory.usedBytes),
        maxBytes: BigInt(info.memory.maxBytes),
        keys: BigInt(info.keyCount ?? 0),
        expiringHashes: BigInt(info.expiringHashCount ?? 0),
      },
    }),
    ...(input.move && { slotMove: describeMove(input.move) }),
    ...(info?.persistence && { persistence: describePersistence(info.persistence) }),
    config: input.config,
    data: {
      state: describeData(input.data.disk),
      marker: input.data.marker,
      freeBytes: input.data.freeBytes,
    },
    certificates: describeCertificate(input.certificate),
    readiness: { ready: input.readiness.ok, message: input.readiness.message },
  });
}

export const ROLES = { primary: Role.PRIMARY, replica: Role.REPLICA, unknown: Role.UNSPECIFIED } as const;

const PROCESS_STATES = {
  absent: ProcessState.ABSENT,
  gated: ProcessState.GATED,
  starting: ProcessState.STARTING,
  loading: ProcessState.LOADING,
  running: ProcessState.RUNNING,
  unresponsive: ProcessState.UNRESPONSIVE,
  exited: ProcessState.EXITED,
} as const;

function processStateOf({ phase }: ProcessView, isStopping: boolean): ProcessState {
  return isStopping && phase === 'running' ? ProcessState.STOPPING : PROCESS_STATES[phase];
}

function describeProcess(
  view: ProcessView,
  facts: ValkeyFacts | undefined,
  isStopping: boolean,
): MessageInitShape<typeof ProcessReportSchema> {
  return {
    state: processStateOf(view, isStopping),
    ...(view.hold && { gate: describeHold(view.hold) }),
    ...(facts && { version: facts.info.server.version, runId: facts.info.server.runId }),
    ...(view.startedAt && { startedAt: timestampFromDate(view.startedAt) }),
    restarts: view.restarts,
    ...(view.lastEnd && { lastExit: describeEnd(view.lastEnd) }),
  };
}

const GATE_REASONS = {
  'replica-may-have-more-data': GateReason.REPLICA_MAY_HAVE_MORE_DATA,
  'configuration-invalid': GateReason.CONFIGURATION_INVALID,
} as const;

export function describeHold({ reason, message, since, until, previousRole }: GateHold) {
  return {
    reason: GATE_REASONS[reason],
    message,
    since: timestampFromDate(since),
    ...(until && { until: timestampFromDate(until) }),
    previousRole: ROLES[previousRole ?? 'unknown'],
  };
}

const EXIT_REASONS = {
  requested: ExitReason.REQUESTED,
  crashed: ExitReason.CRASHED,
  // Valkey exits at once on a configuration it does not like, and on nothing else before it answers.
  'never-answered': ExitReason.CONFIGURATION_REFUSED,
} as const;

export function describeEnd({ at, reason, message }: ProcessEnd) {
  return { at: timestampFromDate(at), reason: EXIT_REASONS[reason], message };
}

function describeCluster(
  cluster: ClusterFacts,
  search: Findings | undefined,
): MessageInitShape<typeof ClusterReportSchema> {
  const { info, myself, nodes, migrations } = cluster;
  return {
    nodeId: myself.id,
    shardId: cluster.shardId,
    role: ROLES[myself.role],
    primaryId: myself.primaryId ?? '',
    configEpoch: BigInt(myself.configEpoch),
    currentEpoch: BigInt(info.currentEpoch),
    state: info.state === 'ok' ? ClusterState.OK : ClusterState.FAIL,
    slots: formatSlots(myself),
    slotsAssigned: info.slotsAssigned,
    slotsOk: info.slotsOk,
    nodes: nodes.map(describeNode),
    openSlots: myself.openSlots.map(({ slot, direction, peer }) => ({
      slot,
      direction: { case: direction === 'importing' ? 'importingFrom' : 'migratingTo', value: peer },
    })),
    migrations: migrations.filter(isRunning).map((migration) => ({
      name: migration.name,
      slots: migration.slots.toString().replaceAll(',', ' '),
      sourceId: migration.sourceNode,
      targetId: migration.targetNode,
      state: migration.state,
      message: migration.message,
      updatedAt: timestampFromDate(new Date(migration.updatedAtSeconds * 1000)),
      remainingBytes: BigInt(migration.remainingBytes),
    })),
    ...(search && { search: { slots: formatSlots(search), withKeys: formatSlots({ slots: search.withKeys }) } }),
  };
}

/** Valkey remembers the last thousand. */
function isRunning({ outcome }: SlotMigration): boolean {
  return outcome === 'running';
}

const MOVE_STATES = {
  running: MoveState.RUNNING,
  done: MoveState.DONE,
  failed: MoveState.FAILED,
  cancelled: MoveState.CANCELLED,
} as const;

function describeMove(move: MoveProgress): MessageInitShape<typeof SlotMoveSchema> {
  const { targetId, movedSlots, failures, message, notableKeys } = move;
  return {
    state: MOVE_STATES[move.state],
    targetId,
    slots: move.slots.toString().replaceAll(',', ' '),
    movedSlots,
    movedKeys: BigInt(move.movedKeys),
    leftKeys: BigInt(move.leftKeys),
    elapsed: durationFromMs(move.elapsedMs),
    ...(move.overForMs !== undefined && { overFor: durationFromMs(move.overForMs) }),
    failures,
    message,
    notableKeys: [...notableKeys],
  };
}

function describeNode(node: ClusterNode): MessageInitShape<typeof KnownNodeSchema> {
  return {
    id: node.id,
    ip: node.ip,
    port: node.port,
    busPort: node.busPort,
    hostname: node.hostname,
    flags: formatFlags(node),
    primaryId: node.primaryId ?? '',
    configEpoch: BigInt(node.configEpoch),
    linkConnected: node.linkConnected,
    slots: formatSlots(node),
    clientIp: node.aux.get('client-ipv4') ?? '',
  };
}

/** In the words of CLUSTER NODES. */
function formatFlags(node: ClusterNode): string[] {
  const role = { primary: 'master', replica: 'slave', unknown: '' }[node.role];
  const health = { ok: '', suspected: 'fail?', failed: 'fail' }[node.health];
  return [
    node.myself ? 'myself' : '',
    role,
    health,
    node.handshake ? 'handshake' : '',
    node.noAddress ? 'noaddr' : '',
    node.noFailover ? 'nofailover' : '',
  ].filter((flag) => flag !== '');
}

function formatSlots({ slots }: { readonly slots: SlotSet }): string {
  return slots.toString().replaceAll(',', ' ');
}

function describeReplication(
  { role, replicationId, offset, primary, replicas }: ReplicationInfo,
  { syncedOnce }: ProcessView,
): MessageInitShape<typeof ReplicationReportSchema> {
  const isLink = role === 'replica' && primary !== undefined;
  return {
    replicationId,
    offset: BigInt(Math.max(0, offset)),
    ...(isLink && {
      link: primary.up ? LinkState.UP : LinkState.DOWN,
      ...(primary.lastIoSeconds >= 0 && { lastIo: durationFromMs(primary.lastIoSeconds * 1000) }),
      syncInProgress: primary.syncInProgress,
      syncedOnce,
    }),
    replicas: replicas.map(({ ip, port, state, offset, lagSeconds }) => ({
      ip,
      port,
      state,
      offset: BigInt(Math.max(0, offset)),
      lag: durationFromMs(Math.max(0, lagSeconds) * 1000),
    })),
  };
}

function describePersistence(info: PersistenceInfo) {
  return {
    loading: info.loading,
    rdbSaveInProgress: info.rdbSaveInProgress,
    rdbLastSaveOk: info.rdbLastSaveOk,
    rdbLastSaveAt: timestampFromDate(new Date(info.rdbLastSaveAtSeconds * 1000)),
    aofEnabled: info.aofEnabled,
    aofRewriteInProgress: info.aofRewriteInProgress,
    aofLastWriteOk: info.aofLastWriteOk,
  };
}

function describeData({ membership, hasSnapshot, hasAppendOnlyFile }: DataOnDisk): DataState {
  if (hasSnapshot || hasAppendOnlyFile) return DataState.PRESENT;
  return membership ? DataState.IDENTITY_ONLY : DataState.EMPTY;
}

function describeCertificate({ leaf, message }: ReportInput['certificate']) {
  const purpose = CertificatePurpose.MTLS;
  if (!leaf) return [{ purpose, message }];
  return [{ purpose, thumbprint: leaf.thumbprint, notAfter: timestampFromDate(leaf.notAfter), message }];
}
