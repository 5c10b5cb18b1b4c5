import type { EndedOrchestration } from '../actions.ts';
import type { PlanView } from '../decision.ts';
import type { Course } from './course.ts';

/** When each began and ended, and how. */
export function listEnded({ snapshot }: PlanView, { ended, cancelled }: Course): EndedOrchestration[] {
  return ended.map(({ id, kind, startedAt }) => {
    const stop = cancelled.find((each) => each.id === id);
    const outcome = !stop ? 'Succeeded' : stop.why === 'Failed' ? 'Failed' : 'Cancelled';
    return { id, kind, outcome, startedAtMs: Date.parse(startedAt), endedAtMs: snapshot.now };
  });
}
