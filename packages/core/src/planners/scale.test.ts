import { labels } from '@valkey-operator/api';
import { SLOT_COUNT } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import { formatImage } from '../builders/template-parts.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { checkPlan, isSettled } from '../testing/check-plan.ts';
import { bear, condition, settle } from '../testing/settle.ts';
import { viewOf, viewSnapshot } from '../testing/view.ts';
import type { Shard } from '../topology.ts';
import { planScale } from './scale.ts';

describe('a scale-out whose pods do not start', () => {
  const stuck = () => {
    const cluster = bear();
    cluster.brokenImages.add(formatImage(cluster.spec.valkeyImage));
    cluster.change({ masterCount: 4 });
    settle(cluster, 20);
    return cluster;
  };

  it('waits in its first step', () => {
    const cluster = stuck();
    expect(cluster.reconcile().status.orchestration).toMatchObject({ kind: 'ScaleOut', stepName: 'Start pods' });
  });

  it('calls a person after ten minutes', () => {
    const cluster = stuck();
    cluster.now += 11 * 60_000;
    const held = condition(settle(cluster, 5), 'Degraded');
    expect(held).toMatchObject({ status: 'True', reason: 'OrchestrationFailed' });
    expect(held.message).toContain('"Start pods"');
  });
});

describe('a scale-out', () => {
  it.each([
    ['by new pods', { masterCount: 4 }],
    ['by replicas that are too many', { masterCount: 6, replicasPerMaster: 0 }],
  ])('%s labels new shards before their first slot, and calls nothing a failover', (_how, size) => {
    const cluster = bear();
    cluster.change(size);
    const labelled = () => cluster.pods.filter(({ node, labels: given }) => given[labels.role] === node?.role);
    let labelledAtStart: number | undefined;
    for (let plan = cluster.reconcile(); !isSettled(plan); plan = cluster.reconcile()) {
      expect(plan.events.map(({ reason }) => reason)).not.toContain('FailedOver');
      const isMoving = plan.status.orchestration?.stepName === 'Move slots';
      if (isMoving) labelledAtStart ??= labelled().length;
      cluster.tick();
    }
    expect(labelledAtStart).toBe(cluster.pods.length);
    expect(new Set(cluster.pods.map((pod) => pod.labels[labels.shard])).size).toBe(size.masterCount);
  });
});

describe('a replica that has not got all data yet', () => {
  it.each([
    ['for a shard that lacks one', { replicasPerMaster: 1 }],
    ['for a new shard', { masterCount: 4, replicasPerMaster: 1 }],
  ])('is not left alone with its primary %s', (_why, size) => {
    const { pods } = bear({ replicas: 2 });
    const replicas = pods.filter(({ node }) => node?.role === 'replica');
    for (const { ordinal } of replicas) {
      const cluster = bear({ replicas: 2 });
      const { node } = cluster.pod(ordinal);
      const former = node!.primaryId;
      cluster.change(size);
      for (let round = 0; round < 20; round += 1) {
        if (node!.primaryId === former) node!.linkUp = false;
        cluster.reconcile(checkPlan(cluster));
        cluster.tick();
      }
      expect(condition(settle(cluster), 'Ready')).toMatchObject({ status: 'True' });
    }
  });
});

describe('a scale-in', () => {
  /** All slots have moved, and the pods that are too many are about to go. */
  function emptied(): ClusterSnapshot {
    const cluster = bear({ shards: 4 });
    cluster.change({ masterCount: 3 });
    for (let round = 0; round < 60; round += 1) {
      let found: ClusterSnapshot | undefined;
      cluster.reconcile(() => {
        if (planScale(viewOf(cluster))?.pods === 6) found ??= cluster.snapshot();
      });
      if (found) return found;
      cluster.tick();
    }
    throw new Error('no pods go');
  }

  it('is under one name to its end, whoever follows whom meanwhile', () => {
    const cluster = bear({ shards: 4 });
    cluster.change({ masterCount: 3 });
    const kinds = new Set<string | undefined>();
    for (let plan = cluster.reconcile(); !isSettled(plan); plan = cluster.reconcile()) {
      kinds.add(plan.status.orchestration?.kind);
      cluster.tick();
    }
    expect([...kinds]).toEqual(['ScaleIn']);
  });

  it('does not wait for a pod that is to go and never starts', () => {
    const cluster = bear({ shards: 4 });
    cluster.unschedulable.add(7);
    cluster.losePod(7);
    settle(cluster);
    cluster.change({ masterCount: 3 });
    expect(condition(settle(cluster), 'Ready')).toMatchObject({ status: 'True' });
    expect([cluster.pods.length, cluster.primaries.length]).toEqual([6, 3]);
  });

  it('lets no pod go while one that stays is not heard, and goes on when it is', () => {
    const cluster = bear();
    const [primary] = cluster.primaries;
    primary!.heard = false;
    cluster.change({ replicasPerMaster: 0 });
    settle(cluster, 60);
    expect(cluster.podCount).toBe(6);
    primary!.heard = true;
    expect(condition(settle(cluster), 'Ready')).toMatchObject({ status: 'True' });
    expect(cluster.podCount).toBe(3);
  });

  it('lets pods go only when the primaries that stay have told themselves that they own all slots', () => {
    const snapshot = emptied();
    const [{ primary: target }] = viewSnapshot(snapshot).topology.shards as [Shard];
    const { report, cluster, slots } = target;
    const late = {
      ...report,
      receivedAt: report.receivedAt - 1000,
      cluster: { ...cluster, slots: slots.lowest(slots.count - 1).toString() },
    };
    const pods = snapshot.pods.map((pod) => (pod.name === target.pod.name ? { ...pod, report: late } : pod));
    const view = viewSnapshot({ ...snapshot, pods });
    expect(view.topology.shards.reduce((sum, shard) => sum + shard.slots.count, 0)).toBe(SLOT_COUNT);
    expect(planScale(view)).toMatchObject({ step: { name: 'Move slots' }, reason: 'SlotsMoving' });
    expect(planScale(view)?.pods).toBeUndefined();
  });
});
