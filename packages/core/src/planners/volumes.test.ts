import { describe, expect, it } from 'vitest';
import { planCluster } from '../plan.ts';
import type { ClaimView } from '../snapshot.ts';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition, settle } from '../testing/settle.ts';

const grown = () => {
  const cluster = bear({ spec: { pvc: { storageSize: '1Gi' } } });
  cluster.change({ pvc: { storageSize: '2Gi' } });
  return cluster;
};

function seenWith(change: Partial<ClaimView>) {
  const snapshot = grown().snapshot();
  return planCluster({ ...snapshot, claims: snapshot.claims.map((claim) => ({ ...claim, ...change })) });
}

describe('volumes', () => {
  it('grow together, without a word to any node, when the spec asks for more', () => {
    const cluster = grown();
    const plan = cluster.reconcile(checkPlan(cluster));
    expect(plan.stages.flat().map(({ type }) => type)).toEqual(Array.from({ length: 6 }, () => 'GrowClaim'));
    expect(plan.status.orchestration).toMatchObject({ kind: 'GrowVolumes', step: 1 });
    settle(cluster);
    expect([...cluster.volumes.values()].map(({ storage }) => storage)).toEqual(Array.from({ length: 6 }, () => '2Gi'));
  });

  it('are waited for, and what they wait for is told', () => {
    const plan = seenWith({ storage: '2Gi', capacity: '1Gi', resizing: 'FileSystemResizePending' });
    expect(plan.stages).toEqual([]);
    expect(condition(plan, 'Progressing').message).toMatch(
      /^0 of 6 volumes have 2Gi; data-demo-0.* are growing \(FileSystemResizePending\)\.$/,
    );
  });

  it('that cannot grow are left as they are, and the class is named', () => {
    const plan = seenWith({ expandable: false, storageClass: 'stiff' });
    expect(plan.stages).toEqual([]);
    expect(condition(plan, 'Progressing')).toEqual({
      status: 'False',
      reason: 'InvalidSpec',
      message:
        'spec.pvc.storageSize is 2Gi, but volume data-demo-0 of 1Gi cannot grow: its StorageClass stiff does not allow it (allowVolumeExpansion). Nothing has been changed; set the old size, or restore a backup into a new cluster with another class.',
    });
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'True' });
  });
});
