import type { Cancelled, Orchestration, OrchestrationKind, PendingOrchestration } from '@valkey-operator/api';
import type { Decision, PlanView } from '../decision.ts';
import { addCancellation, cancel, isInForce, readCancellations, type Target, wind } from './cancellation.ts';
import { callPerson, isOverdue, tryAgain } from './deadline.ts';
import { type Ended, judgeEnds } from './ended.ts';
import { findHold, type Hold } from './hold.ts';
import { awaitLeaving, isOwnDoing } from './in-hand.ts';
import { type Begun, isChange, recallBegun } from './begun.ts';
import { describeProgress } from './progress.ts';

/** What is done now, under which name, and what comes after it. */
export interface Course {
  readonly decision: Decision | undefined;
  readonly orchestration?: Orchestration;
  readonly pending: readonly PendingOrchestration[];
  /** Why the first of those that wait does, when nothing is done. */
  readonly hold?: Hold;
  /** Changes that are not to be done, though the spec asks for them; the last that was stopped first. */
  readonly cancelled: readonly Cancelled[];
  /** Has begun with this look. */
  readonly isNew: boolean;
  /** Had begun, and has nothing left to do. */
  readonly ended: readonly Ended[];
}

/** Something that could be done. */
interface Candidate {
  readonly kind: OrchestrationKind;
  readonly decision: Decision;
  readonly before: Begun | undefined;
  readonly hold: Hold | undefined;
}

/**
 * Repairs pre-empt, changes queue: the one that has begun goes on while its planner has something to do, else the first. A
 * change that a repair has interrupted keeps its id at the head of the queue. All is derived from what is observed now; the
 * memory is only for names.
 */
export function chooseCourse(view: PlanView, repair: Decision | undefined, changes: readonly Decision[]): Course {
  const begun = recallBegun(view.snapshot);
  const running = begun.find(({ kind }) => isChange(kind));
  const asked = inOrder([...changes, awaitLeaving(view, running)], running?.kind);
  const repairKind = repair ? nameRepair(view, repair, begun) : 'Heal';
  const targets = [...begun, ...listNext(asked, repairKind)].filter(({ kind }) => isChange(kind));
  const cancelled = readCancellations(view.snapshot, targets);
  const stopped = new Set(cancelled.flatMap((each) => (isInForce(view.snapshot, each) ? each.kind : [])));
  const queue = asked.flatMap((decision) => (stopped.has(decision.kind ?? 'Heal') ? (wind(decision) ?? []) : decision));
  const enlist = (decision: Decision, kind: OrchestrationKind): Candidate => {
    const before = decision.remark ? undefined : begun.find((each) => each.kind === kind);
    return { kind, decision, before, hold: findHold(view, decision, before) };
  };
  const mending = repair && enlist(repair, repairKind);
  const candidates = [...(mending ? [mending] : []), ...queue.map((each) => enlist(each, each.kind ?? 'Heal'))];

  const chosen = pick(candidates, mending);
  const known = { begun, isMending: mending !== undefined };
  const judge = (over: readonly Begun[]) => judgeEnds(view, over, { cancelled, asked });
  const base = { cancelled, isNew: chosen?.before === undefined };
  if (!chosen || (chosen.decision.held && chosen !== mending && !chosen.before)) {
    const pending = listPending(candidates, undefined, known);
    const ended = judge(begun.filter(({ id }) => !pending.some((entry) => entry.id === id)));
    const hold = candidates.find((each) => each.hold)?.hold;
    return {
      ...base,
      decision: chosen?.decision ?? still(mending),
      pending,
      ...(hold && { hold }),
      isNew: false,
      ended,
    };
  }
  const own = queue.find(({ kind }) => kind === chosen.kind);
  const pending = listPending(candidates, chosen, known);
  const step = describeProgress(view, { ...chosen, step: own?.step });
  const isKept = ({ id }: Begun) => id === step.id || pending.some((entry) => entry.id === id);
  const ended = judge(begun.filter((each) => !isKept(each)));
  return { ...base, pending, ended, ...heedDeadline(view, chosen, { orchestration: step, own, cancelled }) };
}

/** Nothing at all is done, repairs neither: what has begun goes on under its id when that is over. */
export function setAside({ snapshot }: PlanView, decision: Decision): Course {
  const pending = recallBegun(snapshot).map((each) => describeWaiting(each, decision.message));
  return { decision, pending, cancelled: readCancellations(snapshot, []), isNew: false, ended: [] };
}

/** What would begin. */
function listNext(asked: readonly Decision[], repairKind: OrchestrationKind): Target[] {
  return [...asked.flatMap((decision) => decision.kind ?? []), repairKind].map((kind) => ({ kind }));
}

/** Who answers what a repair waits for goes first; then the repair, then the queue. Whoever needs somebody else stands aside. */
function pick(candidates: readonly Candidate[], mending: Candidate | undefined): Candidate | undefined {
  const free = candidates.filter(({ hold }) => !hold);
  const isWaiting = mending !== undefined && (mending.decision.stages ?? []).length === 0;
  const answer = isWaiting ? free.find(({ decision }) => decision.unblocks) : undefined;
  const isAble = ({ decision }: Candidate) => !decision.held && !decision.yields;
  return answer ?? free.find((each) => each === mending || isAble(each)) ?? free[0];
}

/** One of each kind, the running one first. */
function inOrder(all: readonly (Decision | undefined)[], running: OrchestrationKind | undefined): Decision[] {
  const changes = all.filter((each) => each !== undefined);
  const kinds = new Set([running, ...changes.map(({ kind }) => kind)]);
  return [...kinds].flatMap((kind) => {
    const own = changes.filter((each) => each.kind === kind);
    return own.find(({ held }) => !held) ?? own[0] ?? [];
  });
}

/** What is broken by a change belongs to the change: a pod that it replaces, and that is not back yet, is no fault. */
function nameRepair(view: PlanView, repair: Decision, begun: readonly Begun[]): OrchestrationKind {
  const { creating, scaling, observedPods, wantedPods } = view.topology;
  if (repair.kind) return repair.kind;
  if (creating || begun.some(({ kind }) => kind === 'Create')) return 'Create';
  const changes = begun.filter(({ kind }) => isChange(kind));
  if (changes.length > 0) return changes.find(({ pods }) => isOwnDoing(view, pods))?.kind ?? 'Heal';
  const isResized = observedPods !== undefined && observedPods !== wantedPods;
  return scaling ?? (isResized ? 'ScaleReplicas' : 'Heal');
}

/** Everything but what is done, in order. While something is mended, a change's own planner may not see that it goes on. */
function listPending(
  candidates: readonly Candidate[],
  chosen: Candidate | undefined,
  { begun, isMending }: { readonly begun: readonly Begun[]; readonly isMending: boolean },
): PendingOrchestration[] {
  const isSeen = ({ kind }: Begun) => candidates.some((each) => each.kind === kind && !each.decision.remark);
  const unseen = begun.filter((each) => isChange(each.kind) && !isSeen(each));
  const interrupted = (isMending ? unseen : []).map((each) =>
    describeWaiting(each, 'A repair has interrupted it; it goes on afterwards.'),
  );
  const others = candidates
    .filter(({ decision: { remark, kind } }) => kind !== undefined || !remark)
    .filter(({ kind }, index, all) => kind !== chosen?.kind && all.findIndex((each) => each.kind === kind) === index)
    .filter(({ kind, before }) => before || !interrupted.some((each) => each.kind === kind))
    .map(({ kind, before, decision, hold }) => {
      const why = hold?.reason === 'WaitingForMaintenanceWindow' ? `${hold.message} ` : '';
      return describeWaiting(before ?? { kind }, `${why}${decision.message}`);
    });
  return [...interrupted, ...others];
}

function describeWaiting(begun: Partial<Begun> & Pick<Begun, 'kind'>, message: string): PendingOrchestration {
  const { id, kind, startedAt, pods } = begun;
  return { kind, message: message.slice(0, 1024), ...(id && startedAt && { id, startedAt, ...(pods && { pods }) }) };
}

/** What a pause keeps from being done is still told. */
function still(mending: Candidate | undefined): Decision | undefined {
  if (!mending) return undefined;
  const { stages: _stages, events: _events, pods: _pods, ...told } = mending.decision;
  return told;
}

/** A step that takes too long: what its planner says about that is done. */
function heedDeadline(
  view: PlanView,
  { kind, decision }: Candidate,
  progress: { orchestration: Orchestration; own: Decision | undefined; cancelled: readonly Cancelled[] },
): Pick<Course, 'decision' | 'orchestration'> & Partial<Course> {
  const { orchestration, own } = progress;
  const step = decision.step ?? own?.step;
  if (!isChange(kind) || !isOverdue(view, orchestration, step)) return { decision, orchestration };
  if (step?.onTimeout === 'retry') return { decision, orchestration: tryAgain(view, orchestration) };
  if (step?.onTimeout === 'rollBack' && own?.undo) {
    const cancelled = addCancellation(progress.cancelled, cancel(view.snapshot, orchestration, 'Failed'));
    return { decision: { ...own.undo, kind }, orchestration, cancelled };
  }
  // A repair goes on all the same.
  const { stages } = decision === own ? {} : decision;
  return { decision: { ...callPerson(orchestration), ...(stages && { stages }) }, orchestration };
}
