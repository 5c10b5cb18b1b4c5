import { annotations } from '@valkey-operator/api';
import { assignSlotsEvenly, SlotSet } from '@valkey-operator/valkey';
import type { NodeCommand } from '../actions.ts';
import { type Decision, order, type PlanView, stagesOf } from '../decision.ts';
import { chooseSuccessor, findLost, nameOf } from '../quorum.ts';
import { conditionAge } from '../status/conditions.ts';
import { listNames } from '../status/list-names.ts';
import type { PodView } from '../snapshot.ts';
import { hasKeys, isOwner, type Member, type SilentNode, type Topology } from '../topology.ts';
import { forgetEverywhere } from './forget.ts';
import { assign, findHolders, type Holding, search, unite } from './slot-holders.ts';

/** A pod that restarts is back within this time; then a person should look. */
const PATIENCE_MS = 60_000;

/** Slots whose primary is lost and that no replica can take over, and slots that nobody owns. */
export function planUncovered(view: PlanView): Decision | undefined {
  const lost = findLost(view.topology).filter((node) => chooseSuccessor(view, node) === undefined);
  const gone = lost.filter(({ provenGone, replicas }) => provenGone && !replicas.some(hasKeys));
  return release(view, gone) ?? giveUp(view, gone) ?? assignUnowned(view) ?? waitFor(view, lost);
}

/** A node cannot forget its own primary, so its replicas, which are empty, leave it first. */
function release({ topology: { shards } }: PlanView, gone: readonly SilentNode[]): Decision | undefined {
  const followers = gone.flatMap(({ replicas }) => replicas);
  if (followers.length === 0) return undefined;
  const [shelter] = shards.toSorted((a, b) => a.replicas.length - b.replicas.length);
  const command: NodeCommand = shelter
    ? { do: 'replicate', primaryId: shelter.primary.id }
    : { do: 'reset', hard: false };
  const message = `${listNames(followers.map(({ pod }) => pod.name))} leaves ${listNames(gone.map(nameOf))}, which is gone for good and left no data.`;
  const leave = (follower: Member) =>
    order(follower, command, 'SlotsUncovered', { role: 'replica', primaryId: follower.cluster.primaryId ?? '' });
  return { reason: 'SlotsUncovered', message, stages: [followers.map(leave)] };
}

/**
 * The id is proven gone and no replica has a key. A node that lost its identity but not its data claims the slots of its
 * keys by itself: they stay with it. So do those of which somebody else has the keys. The others begin anew, empty, and the
 * event says so.
 */
function giveUp({ topology }: PlanView, gone: readonly SilentNode[]): Decision | undefined {
  if (gone.length === 0) return undefined;
  const claimed = topology.members.reduce((all, member) => all.union(member.slots), SlotSet.empty);
  const unclaimed = unite(gone).difference(claimed);
  const { searches, holdings } = findHolders(topology.members, unclaimed);
  if (searches.length > 0) return search(searches, unclaimed);
  const lost = unclaimed.difference(unite(holdings));
  const pieces = gone.map(({ slots }) => slots.intersection(lost));
  const names = listNames(gone.map(nameOf));
  const given = [...holdings, ...shareOut(topology, pieces)].map((holding) => assign(holding, gone));
  const stages = stagesOf(forgetEverywhere(gone), given);
  if (lost.isEmpty) {
    const message = `${names} is gone for good; its slots stay with the nodes that have the data.`;
    return { reason: 'NodeForgotten', message, stages };
  }
  const message = `Slots ${lost.toString()} begin anew, empty: ${names} is gone for good and no copy of its data is left.`;
  return { reason: 'DataLost', message, stages, events: [{ reason: 'DataLost', message }] };
}

/**
 * Left over from a birth, a failover or a repair that was cut short. A pod that is not heard may own them, so all must be, but
 * for those that wait at their start gate to hear who owns what they had: some wait for these slots.
 */
function assignUnowned({ topology }: PlanView): Decision | undefined {
  const { unowned, members, missing, shardCount } = topology;
  const isKnown = members.every(({ report }) => report.live) && missing.every(({ pod }) => isReplaced(topology, pod));
  if (unowned.isEmpty || !isKnown) return undefined;
  const { searches, holdings } = findHolders(members, unowned);
  if (searches.length > 0) return search(searches, unowned);
  const empty = unowned.difference(unite(holdings));
  const pieces = assignSlotsEvenly(shardCount).map((range) => range.intersection(empty));
  const given = [...holdings, ...shareOut(topology, pieces)].map((holding) => assign(holding));
  const names = listNames(holdings.map(({ member }) => member.pod.name));
  const kept = holdings.length > 0 ? ` Those with keys go to ${names}, where the keys are.` : '';
  return {
    reason: 'SlotsUncovered',
    message: `Slots ${unowned.toString()} have no primary and get one.${kept}`,
    stages: stagesOf(given),
  };
}

/** It cannot serve anything, and somebody else has taken over what it had: it will hear of that. */
function isReplaced({ silent }: Topology, pod: PodView | undefined): boolean {
  return silent.some((node) => node.pod === pod && node.gated && !isOwner(node));
}

/** To nodes without slots, each its own piece, while there are any; the rest to whoever has least. */
function shareOut({ orphans, newborn, shards }: Topology, pieces: readonly SlotSet[]): Holding[] {
  const loads = [
    ...[...newborn.map(({ primary }) => primary), ...orphans].map((member) => ({ member, slots: member.slots.count })),
    ...shards.map(({ primary, slots }) => ({ member: primary, slots: slots.count })),
  ].filter(({ member }) => !member.pod.deletionTimestamp);
  const wanted = pieces.filter((piece) => !piece.isEmpty);
  return wanted.flatMap((piece) => {
    const [least] = loads.toSorted((a, b) => a.slots - b.slots || a.member.pod.ordinal - b.member.pod.ordinal);
    if (least === undefined) return [];
    least.slots += piece.count;
    return [{ member: least.member, slots: piece }];
  });
}

function waitFor(view: PlanView, lost: readonly SilentNode[]): Decision | undefined {
  const { unowned, missing } = view.topology;
  const slots = lost.reduce((all, node) => all.union(node.slots), unowned);
  if (slots.isEmpty) return undefined;
  const holders = lost.flatMap(({ replicas }) => replicas.filter(hasKeys)).map(({ pod }) => pod.name);
  const names = listNames([...new Set([...lost.map(nameOf), ...missing.map(({ name }) => name)])]);
  const what = `Slots ${slots.toString()} have no primary.`;
  if (holders.length > 0) {
    const message = `${what} ${listNames(holders)} has data of them, but was not in sync since it started, so it may be old. Bring ${names} back, or set the annotation ${annotations.forceTakeover} on the ValkeyCluster to go on with that data.`;
    return { reason: 'SlotsUncovered', message, held: true };
  }
  const isLong = conditionAge(view.snapshot, 'SlotsAssigned', 'False') > PATIENCE_MS;
  const message = `${what} They are served again when ${names || 'every sidecar'} is back and heard; until then nothing is given up.`;
  return { reason: 'SlotsUncovered', message, held: isLong };
}
