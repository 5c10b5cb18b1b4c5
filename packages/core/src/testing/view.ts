import type { PlanView } from '../decision.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { deriveRoll } from '../roll/roll.ts';
import { deriveTopology } from '../topology.ts';

/** What planners are given of a simulated cluster. */
export function viewOf(cluster: SimulatedCluster): PlanView {
  const snapshot = cluster.snapshot();
  return { snapshot, topology: deriveTopology(snapshot), roll: deriveRoll(snapshot) };
}
