import { annotations } from '@valkey-operator/api';
import type { Decision, PlanView } from '../decision.ts';
import { readRestartAt, restartAtOf } from '../roll/restart-at.ts';

/** The API server does not look into annotations, so a restart that nobody can read is told here. */
export function planUnreadableRestart({ snapshot: { cluster } }: PlanView): Decision | undefined {
  const text = restartAtOf(cluster);
  if (text === undefined || readRestartAt(cluster) !== undefined) return undefined;
  const message = `The annotation ${annotations.restartAt} is "${text.slice(0, 64)}", which is not a time with its zone, such as 2026-11-19T14:30:00Z, so no pod is restarted for it. Set it to such a time, or remove it.`;
  return { reason: 'InvalidSpec', message, held: true };
}
