import type { OrchestrationKind } from '@valkey-operator/api';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../actions.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { checkPlan, isSettled } from '../testing/check-plan.ts';
import { bear, condition } from '../testing/settle.ts';

const image = (tag: string) => ({ name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' }) as const;

const sizes: [OrchestrationKind, { readonly replicasPerMaster?: number; readonly masterCount?: number }, number][] = [
  ['ScaleReplicas', { replicasPerMaster: 2 }, 9],
  ['ScaleOut', { masterCount: 4 }, 8],
];

/** What ran, in order, and with how many pods; until nothing does, or for so many seconds. */
function watch(cluster: SimulatedCluster, seconds = 200): { readonly story: string[]; readonly last: Plan } {
  const story: string[] = [];
  let last = cluster.reconcile(checkPlan(cluster));
  for (let second = 0; second < seconds && !isSettled(last); second += 1) {
    const { orchestration } = last.status;
    const line = orchestration && `${orchestration.kind} with ${cluster.podCount}`;
    if (line && line !== story.at(-1)) story.push(line);
    cluster.tick();
    last = cluster.reconcile(checkPlan(cluster));
  }
  return { story, last };
}

function askRestart(cluster: SimulatedCluster): void {
  cluster.annotate('restartAt', new Date(cluster.now).toISOString());
  cluster.now += 1000;
}

describe('more pods', () => {
  it.each(sizes)('that are asked for while another change runs wait for its end, as %s', (kind, size, pods) => {
    const cluster = bear();
    askRestart(cluster);
    expect(cluster.reconcile(checkPlan(cluster)).status.orchestration?.kind).toBe('Restart');
    cluster.change(size);
    const { status } = cluster.reconcile(checkPlan(cluster));
    expect(status.pendingOrchestrations).toMatchObject([{ kind, message: `The pods grow from 6 to ${pods}.` }]);
    expect(status.pendingOrchestrations?.[0]?.id).toBeUndefined();
    const { story, last } = watch(cluster);
    expect(story).toEqual(['Restart with 6', `${kind} with ${pods}`]);
    expect(condition(last, 'Ready')).toMatchObject({ status: 'True' });
    expect(cluster.pods).toHaveLength(pods);
  });

  it.each(sizes)('that cannot be scheduled keep no upgrade half done that ran before the %s', (kind, size) => {
    const cluster = bear({ spec: { valkeyImage: image('8.1') } });
    cluster.unschedulable.add(6);
    cluster.change({ valkeyImage: image('9.1') });
    for (let second = 0; second < 8; second += 1) {
      cluster.reconcile(checkPlan(cluster));
      cluster.tick();
    }
    cluster.change(size);
    const { story, last } = watch(cluster, 60);
    expect(story[0]).toBe('Upgrade with 6');
    expect(last.status.orchestration?.kind).toBe(kind);
    const old = cluster.pods.filter((pod) => pod.image.endsWith(':8.1'));
    expect(old).toEqual([]);
  });

  it.each(sizes)('are not added when the %s is cancelled before it has begun', (kind, size) => {
    const cluster = bear();
    cluster.annotate('cancel');
    cluster.change(size);
    const { story, last } = watch(cluster);
    expect(story).toEqual([]);
    expect(last.status.cancelled).toMatchObject({ kind, why: 'Requested' });
    expect(condition(last, 'Progressing')).toMatchObject({ reason: 'Cancelled' });
    expect(condition(last, 'Ready')).toMatchObject({ status: 'True' });
    expect(cluster.podCount).toBe(6);
  });

  it('are told as missing from the moment on in which they are added', () => {
    const cluster = bear();
    cluster.change({ replicasPerMaster: 2 });
    const plan = cluster.reconcile(checkPlan(cluster));
    expect(cluster.podCount).toBe(9);
    expect(plan.status).toMatchObject({ replicas: '3/6', masters: '3/3' });
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'False', reason: 'ReplicaMissing' });
  });

  it('are there before a setting that needs them', () => {
    const cluster = bear();
    cluster.change({
      replicasPerMaster: 2,
      replication: { ...cluster.snapshot().spec.replication, minReplicasToWrite: 2 },
    });
    expect(watch(cluster).story).toEqual(['ScaleReplicas with 9', 'Reconfigure with 9']);
  });

  it('are added although another pod never comes: they may be the answer to that', () => {
    const cluster = bear();
    cluster.unschedulable.add(4);
    cluster.losePod(4);
    watch(cluster, 20);
    cluster.change({ replicasPerMaster: 2 });
    watch(cluster, 20);
    expect(cluster.pods).toHaveLength(8);
  });

  it('that make replicas have ten minutes to start, then a person is called; once they start it goes on', () => {
    const cluster = bear();
    cluster.unschedulable.add(6);
    cluster.change({ replicasPerMaster: 2 });
    const { orchestration } = watch(cluster, 20).last.status;
    const step = { kind: 'ScaleReplicas', step: 1, stepsTotal: 1, stepName: 'Start pods' };
    expect(orchestration).toMatchObject({ ...step, pods: ['demo-6', 'demo-7', 'demo-8'] });
    cluster.now += 600_000;
    const plan = cluster.reconcile(checkPlan(cluster));
    expect(condition(plan, 'Degraded')).toMatchObject({ status: 'True', reason: 'OrchestrationFailed' });
    expect(plan.status.orchestration).toMatchObject({ ...step, id: orchestration?.id });
    cluster.unschedulable.clear();
    expect(condition(watch(cluster).last, 'Ready')).toMatchObject({ status: 'True' });
  });
});
