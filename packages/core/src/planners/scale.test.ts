import { describe, expect, it } from 'vitest';
import { formatImage } from '../builders/template-parts.ts';
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
