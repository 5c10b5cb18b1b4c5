import { describe, expect, it } from 'vitest';
import { describeOrphan } from './orphans.ts';

describe('a ValkeyUpgrade without a cluster', () => {
  it.each([undefined, 'Queued'] as const)('that is %s waits for it', (phase) => {
    expect(describeOrphan(phase, 'demo', true)).toMatchObject({ phase: 'Queued', reason: 'UpgradeQueued' });
    expect(describeOrphan(phase, 'demo', false)).toMatchObject({ phase: 'Queued', reason: 'UpgradeQueued' });
  });

  it.each(['Running', 'RollingBack'] as const)('that was %s has failed when the cluster is gone', (phase) => {
    expect(describeOrphan(phase, 'demo', true)).toMatchObject({
      phase: 'Failed',
      message: expect.stringContaining('deleted'),
    });
    expect(describeOrphan(phase, 'demo', false)).toBeUndefined();
  });

  it.each(['Succeeded', 'RolledBack', 'Failed'] as const)('that is %s stays so', (phase) => {
    expect(describeOrphan(phase, 'demo', true)).toBeUndefined();
  });
});
