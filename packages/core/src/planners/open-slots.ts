import { type SlotMove, SlotSet } from '@valkey-operator/valkey';
import type { NodeAction } from '../actions.ts';
import { type Decision, order, type PlanView, stagesOf } from '../decision.ts';
import { recallBegun } from '../orchestration/begun.ts';
import { nameOf } from '../quorum.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { listNames } from '../status/list-names.ts';
import type { Member, SilentNode, Topology } from '../topology.ts';
import { keepOneWay } from './one-way.ts';
import { findRunningMoves, orderMove } from './slot-moves.ts';
import { describeWaiting } from './slot-takers.ts';

/** A slot that one end of a move key by key holds open, as that end says. */
interface OpenSlot {
  readonly member: Member;
  readonly slot: number;
  /** Where it was going. */
  readonly to: string;
}

/** What becomes of it: the move that finishes it, nothing until these are heard of, or nothing because it is over. */
interface Verdict {
  readonly finish?: SlotMove;
  readonly awaits?: readonly SilentNode[];
}
const OVER: Verdict = {};

/**
 * Slots that were left half moved: by an operator or a sidecar that was killed, by a person (fault 14). Its keys are in two
 * places, so it is finished, wherever it was on its way to; should it not belong there, it is moved on afterwards. Only where
 * the other end does not exist any more it is closed as it is. While an end may still come back nothing is done.
 */
export function planOpenSlots({ topology, snapshot }: PlanView): Decision | undefined {
  const open = findOpenSlots(topology);
  if (open.length === 0) return undefined;
  const verdicts = open.map((each) => ({ ...each, verdict: judge(topology, each) }));
  const wanted = verdicts.flatMap(({ verdict }) => verdict.finish ?? []);
  const ready = wanted.filter((move) => finish(topology, move).length > 0);
  const moves = keepOneWay(mergeMoves(ready), findRunningMoves(topology));
  const over = verdicts.filter(({ verdict }) => verdict === OVER);
  const slots = SlotSet.ofSlots(open.map(({ slot }) => slot)).toString();
  const names = Array.from(new Set(verdicts.flatMap(({ verdict }) => verdict.awaits ?? [])), nameOf);
  const waits = names.length > 0 ? `, once ${listNames(names)} is heard again or known to be gone` : '';
  return {
    reason: 'SlotsMoving',
    message: `Slots ${slots} were left half moved; that is put right first${waits}.${describeWaiting(topology, wanted)}`,
    stages: stagesOf([...moves.flatMap((move) => finish(topology, move)), ...close(over)]),
    wakeAfterMs: 1000,
    // What a person moves by hand is left to that person during a pause; what we have begun is not.
    ...(isMoving(snapshot) && { committed: 'A slot must not stay half moved.' }),
  };
}

function isMoving(snapshot: ClusterSnapshot): boolean {
  return recallBegun(snapshot).some(({ kind }) => kind === 'ScaleOut' || kind === 'ScaleIn');
}

function finish(topology: Topology, move: SlotMove): NodeAction[] {
  return orderMove(topology, move, { by: 'by-key' });
}

/** Not those that a sidecar is at work on. */
function findOpenSlots(topology: Topology): OpenSlot[] {
  const running = findRunningMoves(topology);
  const primaries = topology.members.filter(({ cluster }) => cluster.role === 'primary');
  const open = primaries.flatMap((member) =>
    member.cluster.openSlots.flatMap(({ slot, importingFrom, migratingTo }) => {
      const to = migratingTo ?? (importingFrom === undefined ? undefined : member.id);
      return to === undefined ? [] : [{ member, slot, to }];
    }),
  );
  return open.filter(({ member, to }) => !running.some((move) => move.from === member.id || move.to === to));
}

function judge(topology: Topology, { member, slot, to }: OpenSlot): Verdict {
  const { members, shards, silent } = topology;
  const owner = shards.find(({ slots }) => slots.has(slot))?.primary;
  if (owner === undefined) return { awaits: silent };
  const isStale = to !== member.id && owner !== member;
  if (isStale || owner.id === to) return OVER;
  const end = members.find(({ id }) => id === to);
  // After a failover it is the successor who has the keys.
  const target = end?.cluster.role === 'replica' ? members.find(({ id }) => id === end.cluster.primaryId) : end;
  if (target === owner) return OVER;
  const awaits = silent.filter(target ? mayWakeUp : ({ id, provenGone }) => id === to && !provenGone);
  if (awaits.length > 0) return { awaits };
  return target ? { finish: { from: owner.id, to: target.id, slots: SlotSet.ofSlots([slot]) } } : OVER;
}

/**
 * A primary that others have given up, and taken over from, but whose Valkey may still run, frozen or cut off. It would go on
 * importing, and hearing that the source has given the slot to its successor it would claim that slot under a new epoch, and
 * with it all that it ever owned. Once it has heard of its successor, or has to start anew, it does not.
 */
function mayWakeUp({ podName, missed, fenced, primaryId }: SilentNode): boolean {
  return podName !== undefined && missed && !fenced && primaryId === undefined;
}

/** One order per source; to its other targets later. */
function mergeMoves(moves: readonly SlotMove[]): SlotMove[] {
  return [...Map.groupBy(moves, ({ from }) => from).values()].flatMap(([first, ...rest]) => {
    if (!first) return [];
    const same = rest.filter(({ to }) => to === first.to);
    return [{ ...first, slots: same.reduce((all, { slots }) => all.union(slots), first.slots) }];
  });
}

function close(over: readonly OpenSlot[]): NodeAction[] {
  return Array.from(
    Map.groupBy(over, ({ member }) => member),
    ([member, open]) => {
      const slots = SlotSet.ofSlots(open.map(({ slot }) => slot)).toString();
      return order(member, { do: 'closeSlots', slots }, 'SlotsMoving', { role: 'primary' });
    },
  );
}
