import type { EndedOrchestration } from '../actions.ts';
import type { PlanView } from '../decision.ts';
import type { Course } from './course.ts';

/** How long each took, and how it ended. */
export function listEnded({ snapshot }: PlanView, { ended, cancelled }: Course): EndedOrchestration[] {
  return ended.map(({ id, kind, startedAt }) => {
    const stopped = cancelled?.why === 'Failed' ? 'Failed' : 'Cancelled';
    const outcome = cancelled?.id === id ? stopped : 'Succeeded';
    return { kind, outcome, tookMs: snapshot.now - Date.parse(startedAt) };
  });
}
