import { describe, expect, test } from 'vitest';
import { findCondition, setCondition } from './conditions.ts';

const ready = {
  type: 'Ready',
  status: 'True',
  reason: 'AllShardsServe',
  message: 'ok',
  observedGeneration: 1,
} as const;
const noon = Date.UTC(2026, 10, 15, 12);

describe('setting a condition', () => {
  test('keeps the time of its last transition while the status stays, whatever else changes', () => {
    const before = setCondition([], ready, noon);
    const after = setCondition(
      before,
      { ...ready, reason: 'Other', message: 'other', observedGeneration: 2 },
      noon + 60_000,
    );
    expect(after).toEqual([
      {
        ...ready,
        reason: 'Other',
        message: 'other',
        observedGeneration: 2,
        lastTransitionTime: '2026-11-15T12:00:00Z',
      },
    ]);
  });

  test('moves the time with the status, leaves the others alone and keeps the order', () => {
    const other = { ...ready, type: 'Degraded', status: 'False' } as const;
    const before = setCondition(setCondition([], ready, noon), other, noon);
    const after = setCondition(before, { ...ready, status: 'False' }, noon + 60_000);
    expect(after.map(({ type }) => type)).toEqual(['Ready', 'Degraded']);
    expect(findCondition(after, 'Ready')?.lastTransitionTime).toBe('2026-11-15T12:01:00Z');
    expect(findCondition(after, 'Degraded')).toBe(findCondition(before, 'Degraded'));
  });
});
