import { bytesOf, buildSettings, memoryLimit, settingsInEffect, UNLIMITED } from '../builders/settings.ts';
import type { PlanView } from '../decision.ts';

/** What a Valkey may use, where that is more than fits into the memory that its pod is to have. */
export interface Squeeze {
  readonly maxmemory: string;
  readonly wanted: string;
  readonly limit: string;
}

/**
 * The pods are to have less memory, and the nodes have not agreed to use less yet. Both follow from one field, but the settings may
 * be refused, or wait for something else, while the pods could change.
 */
export function findSqueeze({ snapshot, roll: { good, target } }: PlanView): Squeeze | undefined {
  if (memoryLimit(target) >= memoryLimit(good)) return undefined;
  const maxmemory = settingsInEffect(snapshot)?.settings['maxmemory'] ?? UNLIMITED;
  const wanted = buildSettings(target).settings['maxmemory'] ?? UNLIMITED;
  if (bytesOf(maxmemory) <= bytesOf(wanted)) return undefined;
  return { maxmemory, wanted, limit: String(target.resources.limits?.memory) };
}

/** Pods find no node, and with less memory, as the spec asks by now, they may: but the settings have to make do with less first. */
export function isShortOfRoom(view: PlanView): boolean {
  return view.snapshot.pods.some(({ unschedulable }) => unschedulable !== undefined) && findSqueeze(view) !== undefined;
}
