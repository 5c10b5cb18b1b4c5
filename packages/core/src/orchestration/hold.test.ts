import { describe, expect, it } from 'vitest';
import type { Plan } from '../actions.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition } from '../testing/settle.ts';

function watch(cluster: SimulatedCluster, rounds: number): Plan[] {
  return Array.from({ length: rounds }, () => {
    const plan = cluster.reconcile(checkPlan(cluster));
    cluster.tick();
    return plan;
  });
}

function setWindow(cluster: SimulatedCluster, state: 'open' | 'closed'): void {
  const cron = state === 'open' ? '* * * * *' : '0 4 * * *';
  cluster.spec = { ...cluster.spec, maintenanceWindows: [{ cron, duration: '1m' }] };
}

/** Pods that are taken out of service, in order. */
function findDisrupted(plans: readonly Plan[]): string[] {
  return plans.flatMap(({ stages }) =>
    stages.flat().flatMap((action) => {
      if (action.type === 'DeletePod') return [action.pod];
      return action.type === 'CommandNode' && action.command.do === 'failover' ? ['a primary'] : [];
    }),
  );
}

describe('a maintenance window that closes in the middle of a restart of every pod', () => {
  /** From the first pod of a shard to the first of the next: its replica, its handover, its primary. */
  const moments = Array.from({ length: 14 }, (_, index) => index + 1);

  it.each(moments)('lets the pod end that was begun, and no other begin (after %i s)', (rounds) => {
    const cluster = bear();
    cluster.annotate('restartAt', new Date(cluster.now).toISOString());
    cluster.now += 1000;
    setWindow(cluster, 'open');
    const before = watch(cluster, rounds);
    const { id } = before.flatMap(({ status }) => status.orchestration ?? []).at(-1)!;
    const hasHandedOver = findDisrupted(before).at(-1) === 'a primary';
    setWindow(cluster, 'closed');
    const held = watch(cluster, 30);
    expect(findDisrupted(held)).toHaveLength(hasHandedOver ? 1 : 0);
    expect(findDisrupted(held)).not.toContain('a primary');
    const last = held.at(-1)!;
    expect(condition(last, 'Ready')).toMatchObject({ status: 'True' });
    expect(condition(last, 'Progressing')).toMatchObject({ reason: 'WaitingForMaintenanceWindow' });
    expect(last.status.pendingOrchestrations).toMatchObject([{ id, kind: 'Restart' }]);
    setWindow(cluster, 'open');
    const after = watch(cluster, 60);
    expect(after.flatMap(({ status }) => status.orchestration ?? []).map((each) => each.id)).toContain(id);
    const all = findDisrupted([...before, ...held, ...after]).filter((pod) => pod !== 'a primary');
    expect(all).toHaveLength(6);
    expect(new Set(all).size).toBe(6);
  });
});
