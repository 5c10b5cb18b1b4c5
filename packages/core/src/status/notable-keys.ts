import type { Plan } from '../actions.ts';
import type { PlanView } from '../decision.ts';
import type { Member } from '../topology.ts';

/** So long after a move its keys are news, also for an operator that has just become the leader. */
const NEWS_MS = 60_000;

/** Keys that are large, or that cannot be moved, an event for each: the status names them only as long as they move. */
export function findNotableKeys({ topology: { members, now } }: PlanView): Plan['events'] {
  return members.flatMap((source): Plan['events'] => {
    const keys = isNews(source, now) ? (source.report.move?.notableKeys ?? []) : [];
    return keys.map((key) => ({
      reason: 'SlotsMoving',
      message: `Slots move from ${source.pod.name}: the key ${key}.`,
    }));
  });
}

function isNews({ report: { move, receivedAt } }: Member, now: number): boolean {
  return move?.state === 'running' || (move?.overForMs ?? 0) + now - receivedAt <= NEWS_MS;
}
