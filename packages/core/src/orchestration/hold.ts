import type { Reason } from '@valkey-operator/api';
import type { Decision, PlanView } from '../decision.ts';
import { isPaused, PAUSED } from '../status/paused.ts';
import { formatTime } from '../status/time.ts';
import type { Begun } from './begun.ts';
import { readWindows } from './windows.ts';

/** Why something that could be done is not. */
export interface Hold {
  readonly reason: Reason;
  readonly message: string;
  readonly wakeAfterMs?: number;
}

/** A pause holds whatever has not begun, a closed maintenance window what disrupts. What must not stop does not. */
export function findHold({ snapshot }: PlanView, decision: Decision, before: Begun | undefined): Hold | undefined {
  if (decision.committed) return undefined;
  if (isPaused(snapshot)) return { reason: 'Paused', message: PAUSED };
  if (!decision.disruptive || isStepUnderWay(decision, before)) return undefined;
  const { isOpen, opensAt } = readWindows(snapshot);
  if (isOpen) return undefined;
  const reason = 'WaitingForMaintenanceWindow';
  if (opensAt === undefined) {
    return { reason, message: 'No window of spec.maintenanceWindows ever opens; correct or remove them.' };
  }
  const message = `Waiting for the maintenance window that opens at ${formatTime(opensAt)}.`;
  return { reason, message, wakeAfterMs: opensAt - snapshot.now };
}

function isStepUnderWay({ step }: Decision, before: Begun | undefined): boolean {
  if (before?.step === undefined) return false;
  return step === undefined || (before.step === step.number && before.stepName === step.name);
}
