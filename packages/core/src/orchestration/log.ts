import { logLength, type OrchestrationLogEntry } from '@valkey-operator/api';
import type { PlanView } from '../decision.ts';
import { previousDetail } from '../previous-detail.ts';
import { formatTime } from '../status/time.ts';
import type { Course } from './course.ts';

/** The last steps, newest last. The one that is under way has no end yet; when another begins, or none, it gets one. */
export function writeLog({ snapshot }: PlanView, course: Course): OrchestrationLogEntry[] {
  const log = previousDetail(snapshot).orchestrationLog ?? [];
  const { orchestration } = course;
  const last = log.at(-1);
  const open = last?.finishedAt === undefined ? last : undefined;
  const isSame = last?.orchestration === orchestration?.id && isSameStep(last, orchestration);
  // What has been told as failed stays so, though it may go on for long.
  if (isSame && (!open || !isStuck(course))) return log;
  const closed = open
    ? [...log.slice(0, -1), { ...open, finishedAt: formatTime(snapshot.now), outcome: outcomeOf(open, course) }]
    : log;
  if (!orchestration || isSame) return closed;
  const { id, kind, step, stepName, stepStartedAt: startedAt = formatTime(snapshot.now), message } = orchestration;
  const entry = { orchestration: id, kind, step, ...(stepName && { stepName }), startedAt, message };
  return [...closed, entry].slice(-logLength);
}

function isSameStep(entry: OrchestrationLogEntry | undefined, now: Course['orchestration']): boolean {
  return entry?.step === now?.step && entry?.stepName === now?.stepName && entry?.startedAt === now?.stepStartedAt;
}

function isStuck({ decision }: Course): boolean {
  return decision?.held === true && decision.reason === 'OrchestrationFailed';
}

function outcomeOf(entry: OrchestrationLogEntry, course: Course): OrchestrationLogEntry['outcome'] {
  const { pending, orchestration, ended } = course;
  const { orchestration: id, step, stepName } = entry;
  if (isStuck(course)) return 'Failed';
  if (pending.some((each) => each.id === id)) return 'Interrupted';
  const end = ended.find((each) => each.id === id);
  if (end && end.outcome !== 'Succeeded') return end.outcome === 'Failed' ? 'RolledBack' : 'Cancelled';
  const isAgain = orchestration?.id === id && orchestration.step === step && orchestration.stepName === stepName;
  return isAgain ? 'Retried' : 'Succeeded';
}
