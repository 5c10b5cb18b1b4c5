import { SlotSet } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import { asTold } from './as-told.ts';
import type { MoveProgress } from './slot-mover.ts';

const ended = (state: MoveProgress['state']): MoveProgress => ({
  state,
  targetId: 'target',
  slots: SlotSet.parse('10-20'),
  movedSlots: 10,
  movedKeys: 100,
  leftKeys: 0,
  elapsedMs: 5,
  overForMs: 1,
  endedAt: 1000,
  failures: 0,
  message: '',
  notableKeys: [],
});

describe('a move of slots', () => {
  it.each(['done', 'failed', 'cancelled'] as const)(
    'that is %s is told so with a table that was asked for afterwards, and is running until then',
    (state) => {
      expect(asTold(ended(state), { askedAt: 1000.01 })).toEqual(ended(state));
      for (const askedAt of [1000, 999.99]) {
        const told = asTold(ended(state), { askedAt });
        expect(told).toMatchObject({ state: 'running', movedSlots: 10 });
        expect(told).not.toHaveProperty('overForMs');
      }
    },
  );

  it('of a Valkey that does not answer is told as it is', () => {
    expect(asTold(ended('failed'), undefined)?.state).toBe('failed');
    expect(asTold(undefined, { askedAt: 1 })).toBeUndefined();
  });
});
