import { SlotSet } from '@valkey-operator/valkey';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sumKeys, takeSlots } from './count-keys.ts';

describe('takeSlots', () => {
  it('takes as many as fit, at least one, and all of them in the end', () => {
    const counts = fc.array(fc.nat(100), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(counts, fc.integer({ min: 1, max: 200 }), (perSlot, limit) => {
        const keys = new Map(perSlot.entries());
        let left = SlotSet.of([[0, perSlot.length - 1]]);
        while (!left.isEmpty) {
          const taken = takeSlots(left, keys, limit);
          expect(taken.isEmpty).toBe(false);
          if (taken.count > 1) expect(sumKeys(keys, taken)).toBeLessThanOrEqual(limit);
          left = left.difference(taken);
        }
      }),
    );
  });

  it('takes any number of empty slots at once', () => {
    expect(takeSlots(SlotSet.all, new Map(), 1)).toEqual(SlotSet.all);
  });
});
