import type { Plan } from '../actions.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { findViolations } from './violations.ts';

/** Nothing to do and nothing to wait for. */
export function isSettled({ stages, stayConnected }: Plan): boolean {
  return stages.length === 0 && !stayConnected;
}

/** What must hold of every plan, whatever the cluster looks like; it is compared with what is really so. */
export function checkPlan(cluster: SimulatedCluster): (plan: Plan) => void {
  return (plan) => {
    const violations = findViolations(cluster, plan);
    if (violations.length > 0) throw new Error(violations.join('; '));
  };
}
