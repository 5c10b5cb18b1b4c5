import type { EndedOrchestration } from '../actions.ts';
import type { PlanView } from '../decision.ts';
import type { Course } from './course.ts';

/** When each began and ended, and how. */
export function listEnded({ snapshot }: PlanView, { ended, cancelled }: Course): EndedOrchestration[] {
  return ended.map(({ id, kind, startedAt }) => {
    const stopped = cancelled?.why === 'Failed' ? 'Failed' : 'Cancelled';
    const outcome = cancelled?.id === id ? stopped : 'Succeeded';
    return { id, kind, outcome, startedAtMs: Date.parse(startedAt), endedAtMs: snapshot.now };
  });
}
