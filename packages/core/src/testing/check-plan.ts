import type { Plan } from '../actions.ts';
import { planCluster } from '../plan.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { findViolations } from './violations.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';

/** Nothing to do and nothing to wait for. */
export function isSettled({ stages, stayConnected }: Plan): boolean {
  return stages.length === 0 && !stayConnected;
}

/** What must hold of every plan, whatever the cluster looks like; it is compared with what is really so. */
export function checkPlan(cluster: SimulatedCluster): (plan: Plan, snapshot: ClusterSnapshot) => void {
  return (plan, snapshot) => {
    const again = planCluster(structuredClone(snapshot));
    if (JSON.stringify(again) !== JSON.stringify(plan)) throw new Error('the same snapshot led to another plan');
    const violations = findViolations(cluster, plan);
    if (violations.length > 0) throw new Error(violations.join('; '));
  };
}
