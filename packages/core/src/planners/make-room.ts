import type { Decision, PlanView } from '../decision.ts';
import { isShortOfRoom } from '../roll/less-memory.ts';
import { planConfig } from './config.ts';

/** Settings, which are the answer to pods that find no node where the spec asks for less memory. */
export function planSettings(view: PlanView): Decision | undefined {
  const decision = planConfig(view);
  return decision && !decision.held && isShortOfRoom(view) ? { ...decision, unblocks: true } : decision;
}
