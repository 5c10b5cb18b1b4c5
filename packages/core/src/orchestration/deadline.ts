import { annotations, type Orchestration } from '@valkey-operator/api';
import type { Decision, PlanView, Step } from '../decision.ts';
import { formatTime } from '../status/time.ts';

/** While no operator was there, nothing of it could be done: that time does not count. */
export function isOverdue({ snapshot }: PlanView, { stepStartedAt }: Orchestration, step: Step | undefined): boolean {
  if (step?.timeoutMs === undefined || stepStartedAt === undefined) return false;
  const { now, operator } = snapshot;
  return now - Math.max(Date.parse(stepStartedAt), operator.since ?? 0) > step.timeoutMs;
}

/** Counted, and given the same time again. */
export function tryAgain({ snapshot }: PlanView, orchestration: Orchestration): Orchestration {
  return { ...orchestration, attempts: orchestration.attempts + 1, stepStartedAt: formatTime(snapshot.now) };
}

/** Nothing further is done of it, but if the step ends after all, it goes on. The text is the same at each look. */
export function callPerson({ kind, step, stepsTotal, stepName, stepStartedAt }: Orchestration): Decision {
  const message =
    `${kind} does not get on: step ${step} of ${stepsTotal}, "${stepName}", began at ${stepStartedAt} and has not ended in its time. ` +
    `.status.orchestration.message says what it waits for; it goes on when that is there. To give the step its time again, set and remove the annotation ` +
    `${annotations.paused}; to give the change up, set ${annotations.cancel} to "true".`;
  return { reason: 'OrchestrationFailed', message, kind, held: true };
}
