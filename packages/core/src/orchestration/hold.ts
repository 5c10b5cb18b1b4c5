import type { Reason } from '@valkey-operator/api';
import type { Decision, PlanView } from '../decision.ts';
import { isPaused, PAUSED } from '../status/paused.ts';
import { formatTime } from '../status/time.ts';
import type { Begun } from './begun.ts';
import { isWithin } from './in-hand.ts';
import { readWindows } from './windows.ts';

/** Why something that could be done is not. */
export interface Hold {
  readonly reason: Reason;
  readonly message: string;
  readonly wakeAfterMs?: number;
}

/** A pause holds whatever has not begun, a closed maintenance window what disrupts. What must not stop does not. */
export function findHold(view: PlanView, decision: Decision, before: Begun | undefined): Hold | undefined {
  const { snapshot } = view;
  if (decision.committed) return undefined;
  if (isPaused(snapshot)) return { reason: 'Paused', message: PAUSED };
  if (!decision.disruptive || isStepUnderWay(view, decision, before)) return undefined;
  const { isOpen, opensAt } = readWindows(snapshot);
  if (isOpen) return undefined;
  const reason = 'WaitingForMaintenanceWindow';
  if (opensAt === undefined) {
    return { reason, message: 'No window of spec.maintenanceWindows ever opens; correct or remove them.' };
  }
  const message = `Waiting for the maintenance window that opens at ${formatTime(opensAt)}.`;
  return { reason, message, wakeAfterMs: opensAt - snapshot.now };
}

/** The number alone does not tell: while a pod comes back, the next one is counted already. */
function isStepUnderWay(view: PlanView, decision: Decision, before: Begun | undefined): boolean {
  const { step } = decision;
  if (before?.step === undefined || !isWithin(view, decision, before.pods)) return false;
  return step === undefined || (before.step === step.number && before.stepName === step.name);
}
