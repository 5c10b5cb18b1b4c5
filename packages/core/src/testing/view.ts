import type { PlanView } from '../decision.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { deriveRoll } from '../roll/roll.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { deriveTopology, type Topology } from '../topology.ts';

/** What planners are given of a simulated cluster. */
export function viewOf(cluster: SimulatedCluster): PlanView {
  return viewSnapshot(cluster.snapshot());
}

/** Of a snapshot, with what a test wants to be otherwise. */
export function viewSnapshot(snapshot: ClusterSnapshot, change: Partial<Topology> = {}): PlanView {
  return { snapshot, topology: { ...deriveTopology(snapshot), ...change }, roll: deriveRoll(snapshot) };
}
