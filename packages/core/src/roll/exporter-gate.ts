import type { Decision, PlanView } from '../decision.ts';
import { isSettled } from '../status/exporter.ts';
import { describeStuck } from '../status/pod-problems.ts';

/**
 * A pod whose exporter does not run is in no Service for clients, though its Valkey serves. One such pod is harmless, all of them
 * are not: so no roll goes on beyond a pod of its own making before the exporter runs. That holds nothing but the roll.
 */
export function awaitExporters({ snapshot, roll }: PlanView): Decision | undefined {
  const old = new Set(roll.outdated.map(({ pod }) => pod));
  const made = snapshot.pods.filter((pod) => !old.has(pod));
  const pod = made.find(({ exporter }) => exporter && !isSettled(exporter, snapshot.now));
  if (!pod) return undefined;
  const why = describeStuck(pod.exporter?.waiting);
  const message = `The exporter of ${pod.name} must run before the next pod is replaced${why ? `: ${why}` : ''}.`;
  return { reason: 'WaitingForPods', message };
}
