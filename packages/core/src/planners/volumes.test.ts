import { describe, expect, it } from 'vitest';
import { planCluster } from '../plan.ts';
import type { ClaimView, ClusterSnapshot } from '../snapshot.ts';
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

describe('volumes of pods that are added', () => {
  const added = (size: { masterCount: number } | { replicasPerMaster: number }) => {
    const cluster = grown();
    settle(cluster);
    cluster.change(size);
    return cluster;
  };

  it('have the size that is wanted before the first slot moves there', () => {
    const cluster = added({ masterCount: 4 });
    const done: string[] = [];
    const held = new Set<string>();
    for (let round = 0; round < 30; round += 1) {
      cluster.reconcile((plan) => {
        const { orchestration } = plan.status;
        if (orchestration?.stepName === 'Move slots' && !done.includes('moveSlots')) {
          const small = { storage: '2Gi', capacity: '1Gi' };
          const { claims, ...snapshot } = cluster.snapshot();
          const early = planCluster({ ...snapshot, claims: claims.map((claim) => ({ ...claim, ...small })) });
          held.add(early.status.orchestration?.stepName ?? '');
        }
        for (const action of plan.stages.flat()) {
          if (action.type === 'GrowClaim') done.push(action.claim);
          if (action.type === 'CommandNode' && action.command.do === 'moveSlots') done.push('moveSlots');
        }
      });
      cluster.tick();
    }
    expect(done.slice(0, 3)).toEqual(['data-demo-6', 'data-demo-7', 'moveSlots']);
    expect([...held]).toEqual(['Grow volumes']);
    expect(cluster.primaries).toHaveLength(4);
  });

  it('grow also while their replicas cannot copy their data, as for want of room', () => {
    const cluster = added({ replicasPerMaster: 2 });
    const ended: string[] = [];
    for (let round = 0; round < 20; round += 1) {
      const { events } = cluster.reconcile(checkPlan(cluster));
      ended.push(...events.flatMap(({ reason, message }) => (reason === 'OrchestrationFinished' ? [message] : [])));
      cluster.tick();
      for (const { ordinal, node } of cluster.pods) if (node && ordinal > 5) node.linkUp = false;
    }
    expect([6, 7, 8].map((ordinal) => cluster.volume(ordinal).storage)).toEqual(['2Gi', '2Gi', '2Gi']);
    expect(ended).toEqual([]);
    expect(condition(settle(cluster), 'Ready')).toMatchObject({ status: 'True' });
  });
});

describe('volumes', () => {
  it('that are full keep a replica from its data no longer than until the spec asks for more', () => {
    const cluster = bear({ spec: { pvc: { storageSize: '1Gi' } } });
    const [replica] = cluster.pods.filter(({ node }) => node?.role === 'replica');
    const fill = () => Object.assign(replica!.node!, { linkUp: false });
    fill();
    cluster.reconcile();
    cluster.change({ pvc: { storageSize: '2Gi' } });
    fill();
    const plan = cluster.reconcile(checkPlan(cluster));
    expect(plan.stages.flat().map(({ type }) => type)).toContain('GrowClaim');
  });

  it('grow together, without a word to any node, when the spec asks for more', () => {
    const cluster = grown();
    const plan = cluster.reconcile(checkPlan(cluster));
    expect(plan.stages.flat().map(({ type }) => type)).toEqual(Array.from({ length: 6 }, () => 'GrowClaim'));
    expect(plan.status.orchestration).toMatchObject({ kind: 'GrowVolumes', step: 1 });
    settle(cluster);
    expect([...cluster.volumes.values()].map(({ storage }) => storage)).toEqual(Array.from({ length: 6 }, () => '2Gi'));
  });

  it('grow though the operator was away for long before it could ask', () => {
    const cluster = grown();
    cluster.reconcile(checkPlan(cluster), 0, ['ValkeyCluster', 'ValkeyClusterStatus']);
    cluster.now += 10 * 60_000;
    cluster.operator = { ...cluster.operator, since: cluster.now };
    settle(cluster);
    expect(new Set([...cluster.volumes.values()].map(({ storage }) => storage))).toEqual(new Set(['2Gi']));
  });

  it('are waited for, and what they wait for is told', () => {
    const plan = seenWith({ storage: '2Gi', capacity: '1Gi', resizing: 'FileSystemResizePending' });
    expect(plan.stages).toEqual([]);
    expect(condition(plan, 'Progressing').message).toMatch(
      /^0 of 6 volumes have 2Gi; data-demo-0.* are growing \(FileSystemResizePending\)\.$/,
    );
  });

  it('that grow only when their pods start next hold up no restart, and keep their operation', () => {
    const cluster = grown();
    cluster.reconcile(checkPlan(cluster));
    const { id } = cluster.cluster.status!.orchestration!;
    const begunWith = new Set(cluster.pods.map(({ uid }) => uid));
    const claims = ({ claims: all, pods }: ClusterSnapshot): ClaimView[] =>
      all.map((claim) => {
        const isOld = pods.some(({ ordinal, uid }) => ordinal === claim.ordinal && begunWith.has(uid));
        return isOld ? { ...claim, capacity: '1Gi', resizing: 'FileSystemResizePending' } : claim;
      });
    const seen = cluster.snapshot.bind(cluster);
    cluster.snapshot = () => ({ ...seen(), claims: claims(seen()) });
    expect(cluster.reconcile(checkPlan(cluster)).status.orchestration).toMatchObject({ id, step: 2 });
    cluster.annotate('restartAt', new Date(cluster.now).toISOString());
    const { status } = cluster.reconcile(checkPlan(cluster));
    expect(status.orchestration).toMatchObject({ kind: 'Restart' });
    expect(status.pendingOrchestrations).toMatchObject([{ kind: 'GrowVolumes', id }]);
    expect(condition(settle(cluster, 400), 'Progressing')).toMatchObject({ reason: 'Healthy' });
    expect(cluster.pods.filter(({ uid }) => begunWith.has(uid))).toEqual([]);
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
