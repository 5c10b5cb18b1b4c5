import { describe, expect, it } from 'vitest';
import type { Plan } from '../actions.ts';
import { checkPlan, isSettled } from '../testing/check-plan.ts';
import { bear, settle } from '../testing/settle.ts';
import { SimulatedCluster } from '../simulation/simulated-cluster.ts';

/** Every plan until there is nothing left to do. */
function follow(cluster: SimulatedCluster, meanwhile: (plan: Plan, round: number) => void = () => undefined): Plan[] {
  const plans: Plan[] = [];
  for (let round = 0; round < 150; round += 1) {
    const plan = cluster.reconcile(checkPlan(cluster));
    plans.push(plan);
    if (isSettled(plan)) return plans;
    meanwhile(plan, round);
    cluster.tick();
  }
  throw new Error(`not settled: ${JSON.stringify(plans.at(-1)?.status.orchestration)}`);
}

function promoteReplicaOf(cluster: SimulatedCluster, primary: string): void {
  const id = cluster.pods.find(({ name }) => name === primary)?.node?.id;
  const heir = cluster.pods.findLast(({ node }) => node?.primaryId === id);
  if (heir?.node) cluster.bus.promote(heir.node);
  cluster.tick();
}

const kindsOf = (plans: readonly Plan[]) =>
  plans.flatMap(({ status }) => status.orchestration?.kind ?? []).filter((kind, index, all) => kind !== all[index - 1]);
const eventsOf = (plans: readonly Plan[], reason: string) =>
  plans.flatMap(({ events }) => events.filter((event) => event.reason === reason));

describe('an operation', () => {
  it('begins once, keeps its id, and ends once', () => {
    const plans = follow(new SimulatedCluster());
    expect(kindsOf(plans)).toEqual(['Create']);
    expect(new Set(plans.flatMap(({ status }) => status.orchestration?.id ?? [])).size).toBe(1);
    expect(eventsOf(plans, 'OrchestrationStarted')).toHaveLength(1);
    expect(eventsOf(plans, 'OrchestrationFinished')).toHaveLength(1);
  });

  it('leaves its steps in the log, each with its begin, end and outcome', () => {
    const log = settle(new SimulatedCluster()).detail.orchestrationLog ?? [];
    expect(log.map(({ stepName, outcome }) => [stepName, outcome])).toEqual([
      ['Start pods', 'Succeeded'],
      ['Assign slots', 'Succeeded'],
      ['Attach replicas', 'Succeeded'],
    ]);
    for (const { startedAt, finishedAt = '' } of log) expect(finishedAt >= startedAt).toBe(true);
  });

  it('keeps its name while the pods that it added come up', () => {
    const cluster = bear();
    cluster.change({ replicasPerMaster: 2 });
    const plans = follow(cluster);
    expect(kindsOf(plans)).toEqual(['ScaleReplicas']);
    expect(plans[1]?.status).toMatchObject({
      phase: 'Updating',
      orchestration: { pods: ['demo-6', 'demo-7', 'demo-8'] },
    });
  });

  it('is not a fault when the pods that it removes go', () => {
    const cluster = bear({ replicas: 2 });
    cluster.change({ replicasPerMaster: 1 });
    expect(kindsOf(follow(cluster))).toEqual(['ScaleReplicas']);
  });

  it('follows the newest spec when that changes on the way', () => {
    const cluster = bear();
    cluster.change({ replicasPerMaster: 3 });
    const plans = follow(cluster, (_, round) => round === 2 && cluster.change({ replicasPerMaster: 1 }));
    expect(kindsOf(plans)).toEqual(['ScaleReplicas']);
    expect(cluster.pods).toHaveLength(6);
  });

  it('is taken up by a new leader, which says so once', () => {
    const cluster = bear();
    cluster.change({ replicasPerMaster: 2 });
    const plans = follow(cluster, (_, round) => round === 2 && (cluster.term += 1));
    expect(eventsOf(plans, 'OrchestrationResumed')).toHaveLength(1);
    expect(eventsOf(plans, 'OrchestrationStarted')).toHaveLength(1);
  });

  it('has its name also before a new operator has heard of anybody', () => {
    const cluster = bear();
    cluster.change({ replicasPerMaster: 2 });
    const forget = () => {
      for (const pod of cluster.pods) Object.assign(pod, { heard: false, lastReport: undefined });
    };
    const plans = [0, 1, 2].map(() => {
      forget();
      const plan = cluster.reconcile(checkPlan(cluster));
      for (const pod of cluster.pods) pod.heard = true;
      cluster.tick();
      return plan;
    });
    expect(kindsOf([...plans, ...follow(cluster)])).toEqual(['ScaleReplicas']);
  });

  it('counts the attempts of a step whose actions fail', () => {
    const cluster = bear();
    cluster.change({ replicasPerMaster: 2 });
    const attempts = (failures: string[]) => {
      cluster.failures = failures;
      return cluster.reconcile().status.orchestration?.attempts;
    };
    expect([attempts([]), attempts(['no']), attempts(['no']), attempts([])]).toEqual([1, 2, 3, 3]);
  });
});

describe('a repair', () => {
  it('goes before a change, which keeps its id, its place and its begin', () => {
    const cluster = bear({ replicas: 2 });
    // The pods that stay are replicas now, so that there is much to hand over.
    for (const { name } of cluster.primaries) promoteReplicaOf(cluster, name);
    cluster.change({ replicasPerMaster: 0 });
    const strike = ({ status }: Plan, round: number) => {
      const bystander = cluster.pods.find(({ name }) => !status.orchestration?.pods?.includes(name));
      if (round === 1) cluster.unschedulable.add(bystander!.ordinal);
      if (round === 1) cluster.losePod(bystander!.ordinal);
      if (round === 4) cluster.unschedulable.clear();
    };
    const plans = follow(cluster, strike);
    expect(kindsOf(plans)).toEqual(['ScaleReplicas', 'Heal', 'ScaleReplicas']);
    const healing = plans.find(({ status }) => status.orchestration?.kind === 'Heal');
    const { id, startedAt } = plans[0]!.status.orchestration!;
    expect(healing?.status.pendingOrchestrations?.[0]).toMatchObject({ id, startedAt, kind: 'ScaleReplicas' });
    expect(plans.findLast(({ status }) => status.orchestration)?.status.orchestration).toMatchObject({ id, startedAt });
    expect(eventsOf(plans, 'OrchestrationStarted')).toHaveLength(1);
    expect(eventsOf(plans, 'OrchestrationFinished')).toHaveLength(1);
    const outcomes = plans.at(-1)?.detail.orchestrationLog?.map(({ outcome }) => outcome);
    expect(outcomes).toContain('Interrupted');
  });
});
