import type { Decision } from '../decision.ts';

/** What was said a while ago is not enough to take a pod away. */
export const UNHEARD: Decision = { reason: 'WaitingForPods', message: 'Waiting until every sidecar is heard.' };
