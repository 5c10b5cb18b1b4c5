import { annotations } from '@valkey-operator/api';
import type { Decision, PlanView } from '../decision.ts';

/** The API server does not look into annotations, so a pause that is none is told here. */
export function planUnreadablePause({ snapshot: { cluster } }: PlanView): Decision | undefined {
  const text = cluster.metadata.annotations?.[annotations.paused] ?? '';
  if (['', 'true', 'false'].includes(text)) return undefined;
  const message = `The annotation ${annotations.paused} is "${text.slice(0, 64)}", which is neither "true" nor "false", so the cluster is not paused. Set it to "true", or remove it.`;
  return { reason: 'InvalidSpec', message, held: true };
}
