import { SlotSet } from '@valkey-operator/valkey';
import type { ClusterSnapshot } from '../snapshot.ts';

/** Slots of one primary, and how many keys it has in all of them together: in which, it does not say. */
export interface Share {
  readonly slots: SlotSet;
  readonly keys: number;
}

export function listShares({ pods }: Pick<ClusterSnapshot, 'pods'>): Share[] {
  return pods.flatMap(({ report }) => {
    const { role, slots: text = '' } = report?.cluster ?? {};
    const slots = SlotSet.parse(text);
    return role === 'primary' && !slots.isEmpty ? [{ slots, keys: report?.memory?.keys ?? 0 }] : [];
  });
}

/** By the share of each primary's slots that these are. */
export function estimateKeys(shares: readonly Share[], chosen: SlotSet): number {
  const parts = shares.map(({ slots, keys }) => (keys * slots.intersection(chosen).count) / slots.count);
  return Math.round(parts.reduce((sum, part) => sum + part, 0));
}
