import type { Plan } from '../actions.ts';
import { checkPlan, isSettled } from './check-plan.ts';
import { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import type { SimulationOptions } from '../simulation/simulation-options.ts';

/** Rounds of a second until there is nothing left to do; every plan on the way is checked. */
export function settle(cluster: SimulatedCluster, rounds = 150): Plan {
  let plan = cluster.reconcile(checkPlan(cluster));
  for (let round = 0; round < rounds && !isSettled(plan); round += 1) {
    cluster.tick();
    plan = cluster.reconcile(checkPlan(cluster));
  }
  return plan;
}

/** A cluster that is Ready and has keys in every slot. */
export function bear(options: SimulationOptions = {}): SimulatedCluster {
  const cluster = new SimulatedCluster(options);
  settle(cluster);
  cluster.write();
  return cluster;
}

export function condition({ status }: Plan, type: string) {
  const { status: value, reason, message } = status.conditions?.find((each) => each.type === type) ?? {};
  return { status: value, reason, message };
}

/** Slots that are served by somebody who has their keys. */
export function countKeptSlots({ primaries }: SimulatedCluster): number {
  return primaries.reduce((sum, { node }) => sum + (node?.data.intersection(node.slots).count ?? 0), 0);
}
