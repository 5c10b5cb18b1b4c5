import { SlotSet } from './slot-set.ts';

export interface SlotCoverage {
  /** Slots that nobody owns: keys in them cannot be read or written. */
  readonly uncovered: SlotSet;
  /** Slots that more than one owner claims: two views of the cluster disagree. */
  readonly contested: SlotSet;
}

export function checkCoverage(owned: Iterable<SlotSet>): SlotCoverage {
  let covered = SlotSet.empty;
  let contested = SlotSet.empty;
  for (const slots of owned) {
    contested = contested.union(covered.intersection(slots));
    covered = covered.union(slots);
  }
  return { uncovered: SlotSet.all.difference(covered), contested };
}
