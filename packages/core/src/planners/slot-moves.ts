import { ports } from '@valkey-operator/api';
import {
  applySlotMoves,
  hasFeature,
  parseVersion,
  planSlotMoves,
  type SlotMove,
  SlotSet,
} from '@valkey-operator/valkey';
import type { NodeAction } from '../actions.ts';
import { type Decision, order, type PlanView } from '../decision.ts';
import { findDisplaced, planReturns } from '../displaced-slots.ts';
import { listNames } from '../status/list-names.ts';
import type { Member, Topology } from '../topology.ts';
import { knows } from './introduce.ts';
import { describeFailures, findFailing } from './move-failures.ts';
import { describeMoves, estimateKeys } from './move-progress.ts';
import { keepOneWay } from './one-way.ts';
import { describeWaiting, whyNotYet } from './slot-takers.ts';

/** A move that its source has begun, or that somebody else has. */
export interface RunningMove extends SlotMove {
  readonly source: Member;
}

/**
 * So few keys are where they belong after a few seconds, even if each target takes them from one source after the other, a few
 * thousand at a time. More come from all sources at once and in larger ranges: that is twice as fast, but a target that takes
 * over from several keeps their clients waiting for longer.
 */
const GENTLE_KEYS = 100_000;
const AT_ONCE = { gently: 4000, quickly: 24_000 };

/**
 * What is left to move of slots that are not where they belong: shards that leave keep none, the others share them evenly, and
 * what somebody has moved goes back. Planned anew at each look from what is owned and what is under way, so that a move that
 * was cut short, or a spec that changed, needs no memory.
 */
export function listMoves(view: PlanView): SlotMove[] {
  const { topology } = view;
  const { shards, leaving, newborn } = topology;
  const owned = new Map(shards.map(({ primary, slots }) => [primary.id, slots]));
  const targets = [...shards.filter((shard) => !leaving.includes(shard)), ...newborn].map(({ primary }) => primary.id);
  if (targets.length === 0) return [];
  const expected = applySlotMoves(owned, findRunningMoves(topology));
  const displaced = findDisplaced(view);
  return displaced.length > 0 ? planReturns(displaced, expected) : planSlotMoves(expected, targets);
}

/** Goes on with what moves, and begins what can begin beside it. */
export function planMoves(view: PlanView): Decision | undefined {
  const { topology } = view;
  const running = findRunningMoves(topology);
  const moves = listMoves(view);
  if (moves.length + running.length === 0) return undefined;

  // Of a slot that is open some keys are there already: it arrives first, and goes on from there.
  const open = SlotSet.ofSlots(topology.members.flatMap(({ cluster }) => cluster.openSlots.map(({ slot }) => slot)));
  const contrary = running.filter(({ to, slots }) =>
    moves.some((next) => next.from === to && !next.slots.intersection(slots.difference(open)).isEmpty),
  );
  if (contrary.length > 0) return cancelMoves(contrary);
  const isGentle = canBeGentle(topology, [...moves, ...running]);
  const arriving = running.reduce((all, { slots }) => all.union(slots), SlotSet.empty);
  const idle = moves
    .map((move) => ({ ...move, slots: move.slots.difference(arriving) }))
    .filter(({ slots }) => !slots.isEmpty)
    .filter(({ from, to }) => !running.some((move) => move.from === from || (isGentle && move.to === to)));
  const ready = idle.filter((move) => orderMove(topology, move).length > 0);
  const fromEach = firstOfEach('from', keepOneWay(ready, running));
  const begin = isGentle ? firstOfEach('to', fromEach) : fromEach;
  const keysAtOnce = isGentle ? AT_ONCE.gently : AT_ONCE.quickly;
  const orders = begin.flatMap((move) => orderMove(topology, move, { keysAtOnce }));
  const failing = findFailing(topology, [...moves, ...running]);
  const isHeld = failing.length > 0;
  return {
    reason: isHeld ? 'MoveFailed' : 'SlotsMoving',
    message: `${isHeld ? describeFailures(failing) : describeMoves(topology, moves, running)}${describeWaiting(topology, idle)}`,
    stages: orders.length > 0 ? [orders] : [],
    held: isHeld,
    wakeAfterMs: 1000,
  };
}

/** What moves at this moment, less what has arrived since it was told. */
export function findRunningMoves({ members, shards }: Topology): RunningMove[] {
  return members.flatMap((source) => {
    const { move } = source.report;
    const owned = shards.find(({ primary }) => primary === source)?.slots ?? SlotSet.empty;
    const told = [
      ...(move?.state === 'running' ? [{ slots: move.slots, targetId: move.targetId }] : []),
      ...(source.cluster.exports ?? []),
    ];
    let rest = owned;
    return told.flatMap(({ slots, targetId }) => {
      const moving = SlotSet.parse(slots).intersection(rest);
      rest = rest.difference(moving);
      const isRunning = !moving.isEmpty || move?.state === 'running';
      return isRunning ? [{ source, from: source.id, to: targetId, slots: moving }] : [];
    });
  });
}

/** `why`: after the names of the pods. */
export function cancelMoves(moves: readonly RunningMove[], why = 'is not wanted any more and ends'): Decision {
  const sources = [...new Set(moves.map(({ source }) => source))];
  return {
    reason: 'SlotsMoving',
    message: `The move of slots from ${listNames(sources.map(({ pod }) => pod.name))} ${why}.`,
    stages: [sources.map((source) => order(source, { do: 'cancelMove' }, 'SlotsMoving', { role: 'primary' }))],
  };
}

/** A source is slowed down by one move only; and so is a target, if there is time. */
function firstOfEach(end: 'from' | 'to', moves: readonly SlotMove[]): SlotMove[] {
  return moves.filter((move, index) => moves.findIndex((each) => each[end] === move[end]) === index);
}

/** Key by key nobody has to wait for long anyway. */
function canBeGentle(topology: Topology, moves: readonly SlotMove[]): boolean {
  const keys = moves.reduce((sum, move) => sum + estimateKeys(topology, move), 0);
  return keys <= GENTLE_KEYS && topology.members.every(isAtomic);
}

/** An order to the source; none while one of the two is on its way out or not ready for it. As a whole where both ends can. */
export function orderMove(
  topology: Topology,
  { from, to, slots }: SlotMove,
  { by, keysAtOnce = AT_ONCE.gently }: { readonly by?: 'by-key'; readonly keysAtOnce?: number } = {},
): NodeAction[] {
  const { members, scaling } = topology;
  const source = members.find(({ id }) => id === from);
  const target = members.find(({ id }) => id === to);
  if (!source || target?.pod.ip === undefined || target.pod.deletionTimestamp || source.pod.deletionTimestamp)
    return [];
  const method = by ?? ([source, target].every(isAtomic) ? 'atomic' : 'by-key');
  // A node that has not heard of the others yet calls the cluster down, and serves no slot that it may have got by then.
  if (!knows(source, target) || !target.cluster.stateOk || whyNotYet(topology, target)) return [];
  const address = { nodeId: to, ip: target.pod.ip, port: ports.valkey, busPort: ports.valkeyBus };
  const command = { do: 'moveSlots', slots: slots.toString(), target: address, method, keysAtOnce } as const;
  const slotOwners = [{ slots: slots.toString(), nodeId: from }];
  // Unless the size changes, somebody else has moved them.
  const reason = scaling ? 'SlotsMoving' : 'DriftRepaired';
  return [order(source, command, reason, { role: 'primary', slotOwners })];
}

function isAtomic({ report }: Member): boolean {
  const version = parseVersion(report.process.version ?? '');
  return version !== undefined && hasFeature(version, 'atomicSlotMigration');
}
