import { SlotSet } from '@valkey-operator/valkey';
import { childNames } from './builders/names.ts';
import { type Expectation, expectedPods } from './expectation.ts';
import type { ClusterSnapshot, KnownNodeView, NodeClusterView, NodeView, PodView } from './snapshot.ts';

/** A report that is not of an open session counts for this long: a heartbeat comes every minute, give or take. */
export const FRESH_MS = 90_000;
/**
 * The kubelet asks every sidecar every other second whether its node is ready. When it says no, a report that says yes counts
 * only for this long: the sidecar does not answer any more, or the kubelet is about to hear of it.
 */
export const CONTRADICTED_MS = 10_000;

/** A pod whose Valkey runs and has said who it is. */
export interface Member {
  readonly id: string;
  readonly pod: PodView;
  readonly report: NodeView;
  readonly cluster: NodeClusterView;
  readonly slots: SlotSet;
  readonly known: ReadonlyMap<string, KnownNodeView>;
}

export interface Shard {
  readonly primary: Member;
  readonly slots: SlotSet;
  readonly replicas: readonly Member[];
}

/** A node in the tables of members that is none of them: dead, not heard, replaced, or foreign. */
export interface SilentNode {
  readonly id: string;
  readonly ip: string;
  /** The pod whose name or address it bears. */
  readonly pod: PodView | undefined;
  readonly podName: string | undefined;
  /** What it owns, less what members own. */
  readonly slots: SlotSet;
  /** All that anybody believes it owns. */
  readonly claimed: SlotSet;
  readonly replicas: readonly Member[];
  /** Whom it follows, by what others know of it. */
  readonly primaryId: string | undefined;
  readonly knownBy: readonly Member[];
  /** Some member has a working link to it: whatever we do not hear, it lives. */
  readonly seenAlive: boolean;
  /** A majority of primaries has agreed that it failed. */
  readonly agreedFailed: boolean;
  /**
   * It cannot serve and cannot come back by itself: every pod has told, live, who it is, and none is it; or its own
   * sidecar holds it at the start gate.
   */
  readonly fenced: boolean;
  /** Fenced by the first of these: the id is gone for ever. A pod that has not reported may still be it, so is no proof. */
  readonly provenGone: boolean;
}

/** The cluster as all reports together tell it. */
export interface Topology extends Expectation {
  readonly now: number;
  readonly members: readonly Member[];
  readonly shards: readonly Shard[];
  /** Members that are primaries of nothing. */
  readonly orphans: readonly Member[];
  /** Replicas of a node that is neither a primary with slots nor one that is missed. */
  readonly strays: readonly Member[];
  readonly silent: readonly SilentNode[];
  /** Pods that should be members and are not, or not any more. */
  readonly missing: readonly { readonly name: string; readonly pod: PodView | undefined }[];
  /** Slots that have no owner in anybody's view. */
  readonly unowned: SlotSet;
  /** Every pod that there is or should be has told, through an open session, who it is. */
  readonly allKnown: boolean;
}

export function deriveTopology(snapshot: ClusterSnapshot): Topology {
  const { now, pods } = snapshot;
  const { name, namespace } = snapshot.cluster.metadata;
  const domain = `.${childNames(name).headlessService}.${namespace}.svc`;
  const members = pods.map((pod) => toMember(pod, now)).filter((member) => member !== undefined);
  const byId = new Map(members.map((member) => [member.id, member]));
  const owned = resolveOwners(members);
  const expectation = expectedPods(snapshot, owned.size);
  const missing = findMissing(snapshot, expectation, members);
  const allKnown = missing.length === 0 && members.every(({ report }) => report.live);

  const isPrimary = (member: Member) => member.cluster.role === 'primary';
  const replicasOf = (id: string) =>
    members.filter(({ cluster }) => cluster.role === 'replica' && cluster.primaryId === id);
  const shards = members
    .filter((member) => isPrimary(member) && owned.has(member.id))
    .map((primary) => ({ primary, slots: slotsOf(owned, primary.id), replicas: replicasOf(primary.id) }))
    .toSorted((a, b) => firstSlot(a.slots) - firstSlot(b.slots));
  const silent = findSilentIds(members, byId).map((id) =>
    viewSilent(id, { domain, pods, members, allKnown, slots: slotsOf(owned, id), replicas: replicasOf(id) }),
  );
  // They have changed places, and one of the two has yet to say so: what both had is between them.
  const isSwapping = ({ id, cluster }: Member) => byId.get(cluster.primaryId ?? '')?.cluster.primaryId === id;
  const swapped = members
    .flatMap(({ cluster }) => cluster.nodes)
    .filter((line) => members.some((member) => member.id === line.id && isSwapping(member)))
    .reduce((all, line) => all.union(SlotSet.parse(line.slots)), SlotSet.empty);
  const followed = new Set([...shards.map(({ primary }) => primary.id), ...silent.filter(isOwner).map(({ id }) => id)]);
  return {
    ...expectation,
    now,
    members,
    shards,
    orphans: members.filter((member) => isPrimary(member) && !owned.has(member.id)),
    strays: members.filter(
      (member) => !isPrimary(member) && !followed.has(member.cluster.primaryId ?? '') && !isSwapping(member),
    ),
    silent,
    missing,
    unowned: [...owned.values(), swapped].reduce((rest, slots) => rest.difference(slots), SlotSet.all),
    allKnown,
  };
}

export function isOwner({ slots }: { readonly slots: SlotSet }): boolean {
  return !slots.isEmpty;
}

/** A replica whose data is that of its primary, up to what is in flight. */
export function isInSync({ report }: Member): boolean {
  return report.replication?.linkUp === true && !report.replication.syncInProgress;
}

/** It has held all data of its primary since it started (fault 16): fit to take over. */
export function isPromotable({ cluster, report, pod }: Member): boolean {
  const { offset = 0, syncedOnce = false, syncInProgress = false } = report.replication ?? {};
  return cluster.role === 'replica' && syncedOnce && !syncInProgress && offset > 0 && !pod.deletionTimestamp;
}

/** Keys of its own, wherever they came from. */
export function hasKeys({ report }: Member): boolean {
  return (report.memory?.keys ?? 0) > 0;
}

export function offsetOf({ report }: Member): number {
  return report.replication?.offset ?? 0;
}

export function isContradicted({ ready, report }: PodView): boolean {
  return report !== undefined && report.ready && !ready && !report.live;
}

/** Whether what a pod said last still counts. */
export function isFresh(pod: PodView, now: number): boolean {
  const { report } = pod;
  if (!report) return false;
  return report.live || now - report.receivedAt <= (isContradicted(pod) ? CONTRADICTED_MS : FRESH_MS);
}

function toMember(pod: PodView, now: number): Member | undefined {
  const { report } = pod;
  if (!report?.cluster || report.process.state !== 'running' || !isFresh(pod, now)) return undefined;
  const { cluster } = report;
  const known = new Map(cluster.nodes.map((node) => [node.id, node]));
  return { id: cluster.nodeId, pod, report, cluster, slots: SlotSet.parse(cluster.slots), known };
}

/**
 * Who owns what. A member's own word counts before what others say of silent nodes, and of two that claim a slot the one
 * with the later configuration epoch has it, as among Valkey nodes. Epoch 0 is no decision of the cluster but a node's own
 * idea, such as that of one that has found keys without an owner: it counts last.
 */
function resolveOwners(members: readonly Member[]): Map<string, SlotSet> {
  const own = members
    .filter(({ cluster }) => cluster.role === 'primary')
    .map(({ id, slots, cluster }) => ({ id, slots, epoch: cluster.configEpoch }));
  const memberIds = new Set(members.map(({ id }) => id));
  const told = members
    .flatMap(({ cluster }) => cluster.nodes)
    .filter(({ id, slots }) => slots !== '' && !memberIds.has(id))
    .map(({ id, slots, configEpoch }) => ({ id, slots: SlotSet.parse(slots), epoch: configEpoch }));
  const decided = own.filter(({ epoch }) => epoch > 0);
  const assumed = own.filter(({ epoch }) => epoch === 0);

  const owners = new Map<string, SlotSet>();
  let taken = SlotSet.empty;
  for (const claims of [decided, told, assumed]) {
    for (const { id, slots } of claims.toSorted((a, b) => b.epoch - a.epoch || (a.id < b.id ? -1 : 1))) {
      const free = slots.difference(taken);
      if (free.isEmpty) continue;
      owners.set(id, slotsOf(owners, id).union(free));
      taken = taken.union(free);
    }
  }
  return owners;
}

function findMissing({ cluster, pods }: ClusterSnapshot, { podCount }: Expectation, members: readonly Member[]) {
  const present = new Set(members.map(({ pod }) => pod.name));
  const wanted = Array.from({ length: podCount }, (_, ordinal) => childNames(cluster.metadata.name).pod(ordinal));
  const names = new Set([...wanted, ...pods.map(({ name }) => name)]);
  return [...names]
    .filter((name) => !present.has(name))
    .map((name) => ({ name, pod: pods.find((pod) => pod.name === name) }));
}

/** Handshakes are left out: until they end, their ids are made up. */
function findSilentIds(members: readonly Member[], byId: ReadonlyMap<string, Member>): string[] {
  const ids = members.flatMap(({ cluster }) => cluster.nodes.filter(({ flags }) => !flags.includes('handshake')));
  return [...new Set(ids.map(({ id }) => id))].filter((id) => !byId.has(id)).toSorted();
}

interface SilentFacts {
  /** What follows the name of a pod in its host name: tells our nodes from those of a namesake in another namespace. */
  readonly domain: string;
  readonly pods: readonly PodView[];
  readonly members: readonly Member[];
  readonly allKnown: boolean;
  readonly slots: SlotSet;
  readonly replicas: readonly Member[];
}

function viewSilent(id: string, { domain, pods, members, allKnown, slots, replicas }: SilentFacts): SilentNode {
  const knownBy = members.filter(({ known }) => known.has(id));
  const lines = knownBy.map(({ known }) => known.get(id)).filter((line) => line !== undefined);
  const hostname = lines.map((line) => line.hostname).find((name) => name?.endsWith(domain));
  const podName = hostname?.slice(0, -domain.length);
  const ip = lines.find((line) => line.ip !== '')?.ip ?? '';
  const pod = podName ? pods.find(({ name }) => name === podName) : pods.find((each) => ip !== '' && each.ip === ip);
  const isGated = pod?.report?.process.state === 'gated' && pod.report.live;
  return {
    id,
    ip,
    pod,
    podName: podName ?? pod?.name,
    slots,
    claimed: lines.reduce((all, line) => all.union(SlotSet.parse(line.slots)), SlotSet.empty),
    replicas,
    primaryId: lines.find(({ primaryId }) => primaryId !== undefined)?.primaryId,
    knownBy,
    seenAlive: lines.some(
      ({ linkConnected, flags }) => linkConnected && !flags.some((flag) => flag.startsWith('fail')),
    ),
    agreedFailed: lines.some(({ flags }) => flags.includes('fail')),
    fenced: allKnown || isGated,
    provenGone: allKnown,
  };
}

function slotsOf(owners: ReadonlyMap<string, SlotSet>, id: string): SlotSet {
  return owners.get(id) ?? SlotSet.empty;
}

function firstSlot(slots: SlotSet): number {
  return slots.ranges[0]?.[0] ?? 0;
}
