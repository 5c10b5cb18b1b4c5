import type { Plan } from '../actions.ts';
import type { PlanView } from '../decision.ts';
import { explainCancellation, isSameCancellation, recallCancellations } from './cancellation.ts';
import type { Course } from './course.ts';
import { explainUnheededCancel, isUnheededCancelTold } from './unheeded-cancel.ts';

/**
 * Begin, change of hands and end of operations, once each. Repairs tell what they do themselves. No text has anything in it
 * that another look would word differently: told twice, it must be the same.
 */
export function tellStory(view: PlanView, course: Course): Plan['events'] {
  const { snapshot } = view;
  const { orchestration, isNew, ended, cancelled } = course;
  const { generation } = snapshot.cluster.metadata;
  const told: Plan['events'][number][] = ended
    .filter(({ kind, id }) => kind !== 'Heal' && !cancelled.some((each) => each.id === id))
    .map(({ kind, startedAt }) => ({
      reason: 'OrchestrationFinished',
      message: `${kind}, which began at ${startedAt}, has ended.`,
    }));
  const known = recallCancellations(snapshot);
  for (const each of cancelled.filter((one) => !known.some((other) => isSameCancellation(one, other)))) {
    const reason = each.why === 'Failed' ? 'OrchestrationFailed' : 'Cancelled';
    told.push({ reason, message: explainCancellation(each) });
  }
  const unheeded = explainUnheededCancel(view, course);
  if (unheeded && !isUnheededCancelTold(snapshot)) told.push({ reason: 'NothingToCancel', message: unheeded });
  if (!orchestration || orchestration.kind === 'Heal') return told;
  const { kind, id } = orchestration;
  const before = snapshot.cluster.status?.orchestration;
  const isInherited = before?.id === id && before.term !== undefined && before.term !== orchestration.term;
  if (isNew) {
    told.push({ reason: 'OrchestrationStarted', message: `${kind} begins, for generation ${generation} of the spec.` });
  } else if (isInherited) {
    told.push({ reason: 'OrchestrationResumed', message: `${kind} ${id} goes on under a new leader of the operator.` });
  }
  return told;
}
