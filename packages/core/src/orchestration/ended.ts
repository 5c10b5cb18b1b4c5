import type { Cancelled, OrchestrationKind } from '@valkey-operator/api';
import type { EndedOrchestration } from '../actions.ts';
import type { Decision, PlanView } from '../decision.ts';
import type { Begun } from './begun.ts';

/** Had begun, and nothing of it is left to do. */
export interface Ended extends Begun {
  readonly outcome: EndedOrchestration['outcome'];
}

/** That nothing is left to do does not say that what was asked for has come about. */
export function judgeEnds(
  { snapshot: { upgrades = [] } }: PlanView,
  ended: readonly Begun[],
  { cancelled, asked }: { readonly cancelled: readonly Cancelled[]; readonly asked: readonly Decision[] },
): Ended[] {
  const isTakenBack = upgrades.some(({ status }) => status?.phase === 'RollingBack');
  const isThwarted = (kind: OrchestrationKind) =>
    asked.some((decision) => decision.remark && decision.kind === kind) || (kind === 'Upgrade' && isTakenBack);
  // The spec asks for another size by now.
  const isOvertaken = (kind: OrchestrationKind) =>
    isScaling(kind) && asked.some((decision) => decision.kind !== kind && isScaling(decision.kind));
  return ended.map((each) => {
    const stop = cancelled.find(({ id }) => id === each.id);
    if (stop) return { ...each, outcome: stop.why === 'Failed' ? 'Failed' : 'Cancelled' };
    if (isThwarted(each.kind)) return { ...each, outcome: 'Failed' };
    return { ...each, outcome: isOvertaken(each.kind) ? 'Cancelled' : 'Succeeded' };
  });
}

function isScaling(kind: OrchestrationKind | undefined): boolean {
  return kind === 'ScaleOut' || kind === 'ScaleIn' || kind === 'ScaleReplicas';
}

export function listEnded({ snapshot }: PlanView, ended: readonly Ended[]): EndedOrchestration[] {
  return ended.map(({ id, kind, outcome, startedAt }) => ({
    id,
    kind,
    outcome,
    startedAtMs: Date.parse(startedAt),
    endedAtMs: snapshot.now,
  }));
}
