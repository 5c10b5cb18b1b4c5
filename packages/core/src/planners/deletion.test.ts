import { describe, expect, it } from 'vitest';
import { planCluster } from '../plan.ts';
import { bear } from '../testing/settle.ts';

describe('the deletion of a cluster', () => {
  const doom = (deletionPolicy: 'Delete' | 'Retain') => {
    const cluster = bear({ spec: { deletionPolicy } });
    const metadata = { ...cluster.cluster.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    return planCluster({ ...cluster.snapshot(), cluster: { ...cluster.cluster, metadata } }).stages.map((stage) =>
      stage.map(({ type }) => type),
    );
  };

  it('takes the volumes along, after what would make new ones', () => {
    expect(doom('Delete')).toEqual([
      ['DeleteChild'],
      Array.from({ length: 6 }, () => 'DeleteClaim'),
      ['RemoveFinalizer'],
    ]);
  });

  it('leaves them when they are to be retained', () => {
    expect(doom('Retain')).toEqual([['RemoveFinalizer']]);
  });
});
