import { SLOT_COUNT } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition, countKeptSlots, settle } from '../testing/settle.ts';

interface Size {
  readonly shards: number;
  readonly replicas: number;
}

describe('a change of shards and replicas at once that is cancelled', () => {
  const out = { shards: 3, replicas: 2 };
  const inwards = { shards: 4, replicas: 2 };
  it.each<[Size, { readonly masterCount: number; readonly replicasPerMaster: number }, number]>([
    [out, { masterCount: 5, replicasPerMaster: 0 }, 1],
    [out, { masterCount: 5, replicasPerMaster: 0 }, 3],
    [out, { masterCount: 4, replicasPerMaster: 1 }, 1],
    [out, { masterCount: 4, replicasPerMaster: 1 }, 3],
    [inwards, { masterCount: 3, replicasPerMaster: 1 }, 1],
    [inwards, { masterCount: 3, replicasPerMaster: 1 }, 3],
  ])('keeps the replicas that there were: from %j to %j, after %i looks', ({ shards, replicas }, wanted, looks) => {
    const cluster = bear({ shards, replicas, spec: { pvc: { storageSize: '1Gi' }, deletionPolicy: 'Delete' } });
    const pods = cluster.pods.map(({ uid }) => uid);
    cluster.change(wanted);
    for (let look = 0; look < looks; look += 1) {
      cluster.reconcile(checkPlan(cluster));
      cluster.tick();
    }
    cluster.annotate('cancel');
    const plan = settle(cluster, 300);
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'True' });
    expect(condition(plan, 'Progressing')).toMatchObject({ reason: 'Cancelled' });
    expect(cluster.primaries).toHaveLength(shards);
    expect(cluster.pods.map(({ uid }) => uid)).toEqual(pods);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });
});
