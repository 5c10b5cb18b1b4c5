import { labels } from '@valkey-operator/api';
import { describe, expect, it } from 'vitest';
import { formatImage } from '../builders/template-parts.ts';
import { isSettled } from '../testing/check-plan.ts';
import { bear, condition, settle } from '../testing/settle.ts';

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
