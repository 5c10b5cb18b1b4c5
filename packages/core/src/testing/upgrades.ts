import type { ValkeyUpgrade } from '@valkey-operator/api';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { checkPlan } from './check-plan.ts';

/** Of the images of all pods, each once. */
export function versions({ pods }: SimulatedCluster): (string | undefined)[] {
  return [...new Set(pods.map((pod) => pod.image.split(':').at(-1)))];
}

/** Somebody asks for another version by an object of its own. */
export function askFor(cluster: SimulatedCluster, name: string, spec: Partial<ValkeyUpgrade['spec']>): ValkeyUpgrade {
  const { metadata, apiVersion } = cluster.cluster;
  const creationTimestamp = new Date(cluster.now).toISOString();
  const upgrade: ValkeyUpgrade = {
    apiVersion,
    kind: 'ValkeyUpgrade',
    metadata: { ...metadata, name, uid: cluster.nextId('upgrade'), creationTimestamp, generation: 1 },
    spec: {
      clusterRef: { name: metadata.name },
      rollbackOnFailure: true,
      podReadyTimeout: '10m',
      replicationSyncTimeout: '1h',
      ...spec,
    },
  };
  cluster.upgrades.push(upgrade);
  return upgrade;
}

/** Seconds pass, each with a look of the operator. */
export function pass(cluster: SimulatedCluster, seconds = 100, look: () => void = () => undefined): void {
  for (let second = 0; second < seconds; second += 1) {
    cluster.reconcile(checkPlan(cluster));
    look();
    cluster.tick();
  }
}
