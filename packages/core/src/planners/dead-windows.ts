import { nextFiring } from '@valkey-operator/api';
import type { Decision, PlanView } from '../decision.ts';

/** The API server sees a date that no month has, but not every line that never fires; beside another window nobody would miss it. */
export function planDeadWindows({ snapshot: { spec, now } }: PlanView): Decision | undefined {
  const { maintenanceWindows } = spec;
  const index = maintenanceWindows.findIndex(({ cron }) => nextFiring(cron, now) === undefined);
  const dead = maintenanceWindows[index];
  if (dead === undefined) return undefined;
  const message = `spec.maintenanceWindows[${index}].cron is "${dead.cron}", a time that never comes, so that window never opens: a range goes from the lower value to the higher one (Saturday and Sunday are "6,0"), and the day must be one that the month has. Correct it, or remove the window.`;
  return { reason: 'InvalidSpec', message, held: true };
}
