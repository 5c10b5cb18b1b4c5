import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';

/** Pods that do not come back: their node is dead, and nobody has said so. */
export function strand(cluster: SimulatedCluster, ordinals: readonly number[]): void {
  for (const ordinal of ordinals) {
    cluster.losePod(ordinal);
    cluster.unschedulable.add(ordinal);
  }
}
