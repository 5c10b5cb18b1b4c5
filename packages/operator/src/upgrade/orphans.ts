import type { Reason } from '@valkey-operator/api';
import { type KubeClient, type ObjectRef, writeStatus } from '@valkey-operator/kube';
import type { Caches } from '../caches.ts';
import { valkeyUpgrades } from '../resources.ts';

export interface OrphansContext {
  readonly client: KubeClient;
  readonly caches: Pick<Caches, 'upgrades'>;
  readonly now: () => number;
}

const REASON = 'UpgradeQueued' satisfies Reason;

/** Upgrades of a cluster that does not exist, or that is not ours to change: they wait for it, and say so. */
export async function tellOrphans(
  { client, caches, now }: OrphansContext,
  { namespace, name }: ObjectRef,
): Promise<void> {
  const orphans = caches.upgrades
    .byIndex('cluster', name)
    .filter(
      ({ metadata, status }) =>
        metadata.namespace === namespace && (status?.phase === undefined || status.phase === 'Queued'),
    );
  const message = `There is no ValkeyCluster ${name} in this namespace that the operator manages. It begins when there is one.`;
  const writes = orphans.map((upgrade) => {
    const { generation } = upgrade.metadata;
    const last = upgrade.status?.conditions?.find(({ type }) => type === 'Complete');
    const lastTransitionTime = last?.lastTransitionTime ?? new Date(now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const condition = { type: 'Complete', status: 'False', reason: REASON, message } as const;
    return writeStatus(client, valkeyUpgrades, upgrade, {
      observedGeneration: generation,
      phase: 'Queued',
      conditions: [{ ...condition, observedGeneration: generation, lastTransitionTime }],
    });
  });
  await Promise.all(writes);
}
