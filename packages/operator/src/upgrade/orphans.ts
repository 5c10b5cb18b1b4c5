import type { Reason, ValkeyUpgrade } from '@valkey-operator/api';
import { nameTarget } from '@valkey-operator/core';
import { type KubeClient, type Live, type ObjectRef, writeStatus } from '@valkey-operator/kube';
import type { Caches } from '../caches.ts';
import { valkeyUpgrades } from '../resources.ts';

export interface OrphansContext {
  readonly client: KubeClient;
  readonly caches: Pick<Caches, 'clusters' | 'upgrades'>;
  readonly now: () => number;
}

type Phase = NonNullable<ValkeyUpgrade['status']>['phase'];
interface News {
  readonly phase: Phase;
  readonly reason: Reason;
  readonly message: string;
}

/** Upgrades of a cluster that does not exist, or that is not ours to change. */
export async function tellOrphans({ client, caches, now }: OrphansContext, ref: ObjectRef): Promise<void> {
  const isGone = caches.clusters.get(ref) === undefined;
  const writes = caches.upgrades
    .byIndex('cluster', ref.name)
    .filter(({ metadata }) => metadata.namespace === ref.namespace)
    .map(async (upgrade) => {
      const news = describeOrphan(upgrade.status?.phase, ref.name, isGone);
      if (news) await writeStatus(client, valkeyUpgrades, upgrade, statusOf(upgrade, news, now()));
    });
  await Promise.all(writes);
}

/** Who has not begun waits. Who had begun ends with the cluster: one that is made anew under its name is not half upgraded. */
export function describeOrphan(phase: Phase, cluster: string, isGone: boolean): News | undefined {
  if (phase === undefined || phase === 'Queued') {
    const message = `There is no ValkeyCluster ${cluster} in this namespace that the operator manages. It begins when there is one.`;
    return { phase: 'Queued', reason: 'UpgradeQueued', message };
  }
  if (!isGone || (phase !== 'Running' && phase !== 'RollingBack')) return undefined;
  const message = `ValkeyCluster ${cluster} was deleted while it was upgraded.`;
  return { phase: 'Failed', reason: 'UpgradeRefused', message };
}

function statusOf({ metadata, spec, status }: Live<ValkeyUpgrade>, { phase, ...text }: News, now: number) {
  const { generation } = metadata;
  const last = status?.conditions?.find(({ type }) => type === 'Complete');
  const lastTransitionTime = last?.lastTransitionTime ?? new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  const condition = { type: 'Complete', status: 'False', ...text, observedGeneration: generation } as const;
  const conditions = [{ ...condition, lastTransitionTime }];
  return { observedGeneration: generation, phase, target: nameTarget(spec), conditions };
}
