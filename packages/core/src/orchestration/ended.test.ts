import { SLOT_COUNT } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import type { EndedOrchestration } from '../actions.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition, countKeptSlots } from '../testing/settle.ts';
import { askFor } from '../testing/upgrades.ts';

const image = (tag: string) => ({ name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' }) as const;

/** Seconds pass; what has ended in them. */
function pass(cluster: SimulatedCluster, seconds: number): EndedOrchestration[] {
  const ended: EndedOrchestration[] = [];
  for (let second = 0; second < seconds; second += 1) {
    ended.push(...(cluster.reconcile(checkPlan(cluster)).ended ?? []));
    cluster.tick();
  }
  return ended;
}

function lastStep(cluster: SimulatedCluster) {
  return cluster.reconcile(checkPlan(cluster)).detail.orchestrationLog?.at(-1);
}

function withBrokenImage(): SimulatedCluster {
  const cluster = bear({ spec: { valkeyImage: image('9.1') } });
  cluster.brokenImages.add('docker.io/valkey/valkey:9.9');
  return cluster;
}

describe('an operation ends', () => {
  it('though what only a person can set right remains, which is then told under no name', () => {
    const cluster = bear();
    cluster.annotate('restartAt', 'tomorrow');
    pass(cluster, 5);
    cluster.losePod(0);
    const ended = pass(cluster, 60);
    expect(ended).toMatchObject([{ kind: 'Heal', outcome: 'Succeeded' }]);
    const plan = cluster.reconcile(checkPlan(cluster));
    expect(plan.status.orchestration).toBeUndefined();
    expect(plan.status.pendingOrchestrations).toBeUndefined();
    expect(condition(plan, 'Progressing')).toMatchObject({ status: 'False', reason: 'InvalidSpec' });
  });

  it('as failed when a node refuses a setting, and the others have theirs back', () => {
    const cluster = bear();
    cluster.pod(4).refuses.add('77');
    cluster.change({ config: { hz: '77' } });
    expect(pass(cluster, 60)).toMatchObject([{ kind: 'Reconfigure', outcome: 'Failed' }]);
    const { status } = cluster.reconcile(checkPlan(cluster));
    expect(status).toMatchObject({ phase: 'Running', pendingOrchestrations: [{ kind: 'Reconfigure' }] });
    expect(status.orchestration).toBeUndefined();
    expect(lastStep(cluster)).toMatchObject({ kind: 'Reconfigure', outcome: 'RolledBack' });
  });

  it('as failed when the pods of the spec failed, and are back', () => {
    const cluster = withBrokenImage();
    cluster.annotate('allowUnknownVersion');
    cluster.change({ valkeyImage: image('9.9') });
    expect(pass(cluster, 200)).toMatchObject([{ kind: 'Upgrade', outcome: 'Failed' }]);
    expect(lastStep(cluster)).toMatchObject({ kind: 'Upgrade', outcome: 'RolledBack' });
    const { status } = cluster.reconcile(checkPlan(cluster));
    expect(status.pendingOrchestrations).toMatchObject([{ kind: 'Upgrade' }]);
  });

  it('as failed when it was a ValkeyUpgrade that went back', () => {
    const cluster = withBrokenImage();
    cluster.annotate('allowUnknownVersion');
    askFor(cluster, 'up', { targetVersion: '9.9' });
    expect(pass(cluster, 200)).toMatchObject([{ kind: 'Upgrade', outcome: 'Failed' }]);
    expect(lastStep(cluster)).toMatchObject({ kind: 'Upgrade', outcome: 'RolledBack' });
  });

  it('as failed when its image shows on a pod of its own that no pod can be made of it', () => {
    const cluster = withBrokenImage();
    cluster.change({ valkeyImage: image('9.9') });
    expect(pass(cluster, 100)).toMatchObject([{ kind: 'Upgrade', outcome: 'Failed' }]);
    const plan = cluster.reconcile(checkPlan(cluster));
    expect(plan.status).toMatchObject({ phase: 'Running', pendingOrchestrations: [{ kind: 'Upgrade' }] });
    expect(plan.status.orchestration).toBeUndefined();
    expect(condition(plan, 'Degraded')).toMatchObject({ status: 'True', reason: 'ImageUnavailable' });
    cluster.brokenImages.clear();
    expect(pass(cluster, 200)).toMatchObject([{ kind: 'Upgrade', outcome: 'Succeeded' }]);
  });

  it('as cancelled when the spec asks for another size before it has come about', () => {
    const cluster = bear();
    cluster.change({ masterCount: 4 });
    pass(cluster, 3);
    cluster.change({ masterCount: 3 });
    expect(pass(cluster, 100)).toMatchObject([
      { kind: 'ScaleOut', outcome: 'Cancelled' },
      { kind: 'ScaleIn', outcome: 'Succeeded' },
    ]);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });
});
