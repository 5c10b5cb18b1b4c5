import { bytesOf, buildSettings, memoryLimit, settingsInEffect, UNLIMITED } from '../builders/settings.ts';
import type { PlanView } from '../decision.ts';

/** What a Valkey shall use, and what it may until its pod has the memory for that. */
export interface AwaitedMemory {
  readonly wanted: string;
  readonly kept: string;
}

/**
 * No Valkey may use more than its pod has: a larger maxmemory waits for the memory that is asked for together with it, unless all
 * pods have enough already. What follows from the limit always waits. Less of it never does: see findSqueeze.
 */
export function findAwaitedMemory(view: PlanView): AwaitedMemory | undefined {
  const { spec } = view.snapshot;
  const kept = settingsInEffect(view.snapshot)?.settings['maxmemory'] ?? UNLIMITED;
  const wanted = buildSettings(spec).settings['maxmemory'] ?? UNLIMITED;
  const atHand = memoryAtHand(view);
  if (bytesOf(wanted) <= bytesOf(kept) || memoryLimit(spec) <= atHand) return undefined;
  const isOwn = spec.config?.['maxmemory'] !== undefined;
  return isOwn && bytesOf(wanted) < atHand ? undefined : { wanted, kept };
}

export function describeAwaitedMemory(view: PlanView): string {
  const awaited = findAwaitedMemory(view);
  if (!awaited) return '';
  const { wanted, kept } = awaited;
  return ` maxmemory becomes ${wanted} when every pod has the memory that the spec asks for, and stays ${kept} until then.`;
}

/** Bytes that every pod has for sure. One between what was in effect and what shall be may have anything. */
function memoryAtHand({ snapshot: { pods }, roll: { good, target, outdated } }: PlanView): number {
  const isResizing = pods.some(({ resizing, resizePending }) => resizing || resizePending !== undefined);
  const isBetween = outdated.some(({ changes, isGood }) => changes.includes('resources') && !isGood);
  return isResizing || isBetween ? 0 : Math.min(memoryLimit(good), memoryLimit(target));
}
