import { logLength, type OrchestrationLogEntry } from '@valkey-operator/api';
import type { PlanView } from '../decision.ts';
import { previousDetail } from '../expectation.ts';
import { formatTime } from '../status/time.ts';
import type { Course } from './course.ts';

/** The last steps, newest last. The one that is under way has no end yet; when another begins, or none, it gets one. */
export function writeLog({ snapshot }: PlanView, course: Course): OrchestrationLogEntry[] {
  const log = previousDetail(snapshot).orchestrationLog ?? [];
  const { orchestration } = course;
  const last = log.at(-1);
  const open = last?.finishedAt === undefined ? last : undefined;
  const isSame =
    open?.orchestration === orchestration?.id &&
    open?.step === orchestration?.step &&
    open?.stepName === orchestration?.stepName;
  if (isSame) return log;
  const closed = open
    ? [...log.slice(0, -1), { ...open, finishedAt: formatTime(snapshot.now), outcome: outcomeOf(open, course) }]
    : log;
  if (!orchestration) return closed;
  const { id, kind, step, stepName, stepStartedAt: startedAt = formatTime(snapshot.now), message } = orchestration;
  const entry = { orchestration: id, kind, step, ...(stepName && { stepName }), startedAt, message };
  return [...closed, entry].slice(-logLength);
}

function outcomeOf(step: OrchestrationLogEntry, { pending }: Course): OrchestrationLogEntry['outcome'] {
  return pending.some(({ id }) => id === step.orchestration) ? 'Interrupted' : 'Succeeded';
}
