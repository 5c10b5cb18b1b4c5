import { SlotSet } from '@valkey-operator/valkey';
import { childNames } from './builders/names.ts';
import { type Expectation, expectedPods } from './expectation.ts';
import { resolveOwners, slotsOf } from './slot-owners.ts';
import { chooseLeaving, chooseSeeds } from './shard-roles.ts';
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
  /** As Valkey calls it, if only one primary bears that name: one that was taken over may come back with slots of its own. */
  readonly id: string;
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
  /** Some member has missed its answers: it was there before, which one that has just come was not. */
  readonly missed: boolean;
  /** A majority of primaries has agreed that it failed. */
  readonly agreedFailed: boolean;
  /**
   * It cannot serve and cannot come back by itself: every pod has told, live, who it is, and none is it; or its own
   * sidecar holds it at the start gate.
   */
  readonly fenced: boolean;
  /** Fenced by the second of these. */
  readonly gated: boolean;
  /** Fenced by the first of these: the id is gone for ever. A pod that has not reported may still be it, so is no proof. */
  readonly provenGone: boolean;
}

/** The cluster as all reports together tell it. */
export interface Topology extends Expectation {
  readonly now: number;
  readonly members: readonly Member[];
  readonly shards: readonly Shard[];
  /** Of these, the ones that are too many: their slots go to the others. */
  readonly leaving: readonly Shard[];
  /** Shards to be: primaries that have no slots yet, with their replicas. */
  readonly newborn: readonly Shard[];
  /** Members that are primaries of nothing and not about to become one. */
  readonly orphans: readonly Member[];
  /** Replicas of a node that is neither a primary, of slots or to be, nor one that is missed. */
  readonly strays: readonly Member[];
  readonly silent: readonly SilentNode[];
  /** Pods that should be members and are not, or not any more. */
  readonly missing: readonly { readonly name: string; readonly ordinal: number; readonly pod: PodView | undefined }[];
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
  const owned = resolveOwners(members, now);
  const expectation = expectedPods(snapshot, owned.size);
  const missing = findMissing(snapshot, expectation, members);
  const allKnown = missing.length === 0 && members.every(({ report }) => report.live);

  const isPrimary = (member: Member) => member.cluster.role === 'primary';
  const replicasOf = (id: string) =>
    members.filter(({ cluster }) => cluster.role === 'replica' && cluster.primaryId === id);
  const owners = members.filter((member) => isPrimary(member) && owned.has(member.id));
  const shards = owners
    .map((primary) => ({
      id: nameShard(primary, owners),
      primary,
      slots: slotsOf(owned, primary.id),
      replicas: replicasOf(primary.id),
    }))
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
  const slotless = members.filter((member) => isPrimary(member) && !owned.has(member.id));
  const seeds = chooseSeeds(slotless, shards, {
    expectation,
    // Where nobody has slots there is nobody to get them from: that is a birth, and for planBirth to see to.
    missing: expectation.formed && shards.length > 0 ? expectation.wantedShards - owned.size : 0,
    followers: (id) => replicasOf(id).length,
  });
  const newborn = seeds.map((primary) => ({
    id: nameShard(primary, [...owners, ...seeds]),
    primary,
    slots: SlotSet.empty,
    replicas: replicasOf(primary.id),
  }));
  const crewed = [...shards, ...newborn].map(({ primary }) => primary.id);
  const followed = new Set([...crewed, ...silent.filter(isOwner).map(({ id }) => id)]);
  return {
    ...expectation,
    now,
    members,
    shards,
    leaving: chooseLeaving(shards, expectation, owned.size),
    newborn,
    orphans: slotless.filter((member) => !seeds.includes(member)),
    strays: members.filter(
      (member) => !isPrimary(member) && !followed.has(member.cluster.primaryId ?? '') && !isSwapping(member),
    ),
    silent,
    missing,
    unowned: [...owned.values(), swapped].reduce((rest, slots) => rest.difference(slots), SlotSet.all),
    allKnown,
  };
}

function nameShard({ id, cluster }: Member, owners: readonly Member[]): string {
  const namesakes = owners.filter((other) => other.cluster.shardId === cluster.shardId);
  return namesakes.length > 1 ? id : cluster.shardId || id;
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

function findMissing({ cluster, pods }: ClusterSnapshot, { podCount }: Expectation, members: readonly Member[]) {
  const present = new Set(members.map(({ pod }) => pod.name));
  const names = childNames(cluster.metadata.name);
  const wanted = Array.from({ length: podCount }, (_, ordinal) => ({ name: names.pod(ordinal), ordinal }));
  const ordinals = new Map([...wanted, ...pods].map(({ name, ordinal }) => [name, ordinal]));
  return [...ordinals]
    .filter(([name]) => !present.has(name))
    .map(([name, ordinal]) => ({ name, ordinal, pod: pods.find((pod) => pod.name === name) }));
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
  const gated = pod?.report?.process.state === 'gated' && pod.report.live;
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
    seenAlive: lines.some((line) => line.linkConnected && !isMissed(line)),
    missed: lines.some(isMissed),
    agreedFailed: lines.some(({ flags }) => flags.includes('fail')),
    fenced: allKnown || gated,
    gated,
    provenGone: allKnown,
  };
}

function isMissed({ flags }: KnownNodeView): boolean {
  return flags.some((flag) => flag.startsWith('fail'));
}

function firstSlot(slots: SlotSet): number {
  return slots.ranges[0]?.[0] ?? 0;
}
