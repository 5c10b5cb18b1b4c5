import type {
  FailedRoll,
  NodeDetail,
  ShardDetail,
  SlotMigration,
  UpgradedImage,
  ValkeyClusterStatus,
} from '@valkey-operator/api';
import { SlotSet } from '@valkey-operator/valkey';
import { settingsInEffect } from '../builders/settings.ts';
import { formatParts, templateParts } from '../builders/template-parts.ts';
import type { PlanView } from '../decision.ts';
import { findDisplaced } from '../displaced-slots.ts';
import { previousDetail } from '../previous-detail.ts';
import { findFailure, rollPolicy } from '../roll/failure.ts';
import type { NodeView, PodView } from '../snapshot.ts';
import { isFresh, type Member, offsetOf, type Shard } from '../topology.ts';
import { assessHealth } from './health.ts';
import { formatTime } from './time.ts';

type Detail = NonNullable<ValkeyClusterStatus['status']>;

/** Less than this is what is always in flight. */
const LAG_WORTH_TELLING = 1024 * 1024;
/** A figure is written again when it has changed by this share: an idle cluster must not cause a single write. */
const STEADY_SHARE = 0.1;
/** Of slots that are still to be moved: enough to see which. */
const MAX_RANGES = 100;

/** Every node and shard, for people and the UI. */
export function describeDetail(view: PlanView, upgraded: UpgradedImage | undefined): Detail {
  const { snapshot, topology } = view;
  const before = new Map(previousDetail(snapshot).nodes?.map((node) => [node.pod, node]));
  const migrations = topology.members.flatMap((member) => describeMigration(view, member));
  const displaced = findDisplaced(view).map(({ slots, owner }) => ({ shard: owner.id, slots: listRanges(slots) }));
  const pods = snapshot.pods.toSorted((a, b) => a.ordinal - b.ordinal);
  const accepted = settingsInEffect(snapshot);
  return {
    observedGeneration: snapshot.cluster.metadata.generation,
    clusterType: 'cluster',
    masterCount: topology.shards.length,
    replicasPerMaster: topology.inEffect.replicasPerMaster,
    statefulSet: { name: snapshot.cluster.metadata.name },
    nodes: pods.map((pod) => describeNode(pod, view, before.get(pod.name))),
    shards: topology.shards.map(describeShard),
    ...(migrations.length > 0 && { migrations }),
    ...(displaced.length > 0 && { displaced }),
    effectiveSpec: { ...specInEffect(view), ...topology.inEffect },
    ...withValues({ failedRoll: recordFailure(view), upgraded }),
    ...(accepted && { acceptedSettings: { ...accepted } }),
  };
}

/** A spec is in effect when every pod is made of it and works; until then the one before is what to go back to. */
function specInEffect(view: PlanView) {
  const { good, target, changes, outdated, begun } = view.roll;
  const isDone = begun && outdated.length === 0 && assessHealth(view).shortcomings.length === 0;
  return changes.length === 0 || isDone || !view.topology.formed ? target : good;
}

function recordFailure(view: PlanView): FailedRoll | undefined {
  const failure = findFailure(view);
  if (!failure || !rollPolicy(view).rollBack) return view.roll.failed;
  const { cluster, now } = view.snapshot;
  const template = formatParts(templateParts(cluster, view.roll.target));
  const message = `pod ${failure.pod.name}: ${failure.seen}`.slice(0, 2048);
  return { template, pod: failure.pod.name, message, at: formatTime(now) };
}

/** From before its first slot on: what is written of a shard when slots move would slow them down. */
export function shardOf({ topology: { shards, newborn } }: PlanView, pod: PodView): Shard | undefined {
  return [...shards, ...newborn].find(({ primary, replicas }) =>
    [primary, ...replicas].some((member) => member.pod.name === pod.name),
  );
}

function describeShard({ id, primary, replicas, slots }: Shard): ShardDetail {
  return {
    id,
    primary: primary.pod.name,
    replicas: replicas.map(({ pod }) => pod.name),
    slots: listRanges(slots),
  };
}

/** What its sidecar moves away, or could not; keys that people should know of are named. */
function describeMigration({ topology }: PlanView, source: Member): SlotMigration[] {
  const { move } = source.report;
  if (move?.state !== 'running' && move?.state !== 'failed') return [];
  const shards = [...topology.shards, ...topology.newborn];
  const name = (nodeId: string) => shards.find(({ primary }) => primary.id === nodeId)?.id ?? nodeId;
  const keys = move.notableKeys.length > 0 ? `Keys: ${move.notableKeys.join(', ')}` : '';
  const isRetry = move.state === 'running' && move.message !== '';
  const why = isRetry ? `attempt ${move.failures + 1}, because ${move.message}` : move.message;
  const message = [why, keys].filter(Boolean).join('. ');
  return [
    {
      from: name(source.id),
      to: name(move.targetId),
      slots: listRanges(SlotSet.parse(move.slots)).slice(0, MAX_RANGES),
      state: move.state,
      ...(message && { message: message.slice(0, 1024) }),
    },
  ];
}

function listRanges({ ranges }: SlotSet): string[] {
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
}

function describeNode(pod: PodView, view: PlanView, before: NodeDetail | undefined): NodeDetail {
  const { report, zone, kubernetesNode, ip } = pod;
  const member = view.topology.members.find((each) => each.pod === pod);
  return {
    pod: pod.name,
    ready: report?.ready ?? false,
    ...withValues({ zone, kubernetesNode, address: ip }),
    ...(member && describeMember(member, shardOf(view, pod), before)),
    ...(report && describeReport(pod, report, view.snapshot.now, before)),
  };
}

function describeMember(member: Member, shard: Shard | undefined, before: NodeDetail | undefined) {
  const { id, cluster, report } = member;
  const lag = shard && member !== shard.primary ? offsetOf(shard.primary) - offsetOf(member) : 0;
  return withValues({
    nodeId: id,
    role: cluster.role,
    shard: shard?.id,
    lagBytes: lag >= LAG_WORTH_TELLING ? steady(before?.lagBytes, lag) : undefined,
    linkUp: cluster.role === 'replica' ? (report.replication?.linkUp ?? false) : undefined,
  });
}

function describeReport(pod: PodView, report: NodeView, now: number, before: NodeDetail | undefined) {
  const message = report.message || report.process.gate?.message;
  return withValues({
    usedMemoryBytes: report.memory && steady(before?.usedMemoryBytes, report.memory.usedBytes),
    version: report.process.version,
    configHash: report.config.runningHash,
    certificateThumbprint: report.certificate?.thumbprint,
    lastHeartbeat: isFresh(pod, now) ? undefined : formatTime(report.receivedAt),
    message: message?.slice(0, 1024),
  });
}

function steady(before: number | undefined, now: number): number {
  return before !== undefined && Math.abs(now - before) <= before * STEADY_SHARE ? before : now;
}

/** Without what is not known, or has nothing to say. */
function withValues<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '');
  return Object.fromEntries(known) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
