import { apiVersion, type ValkeyUpgrade } from '@valkey-operator/api';
import { defineResource, type KubeObject } from '@valkey-operator/kube';
import type { TestCluster } from '../../support/test-cluster.ts';

export const valkeyUpgrades = defineResource<ValkeyUpgrade & KubeObject>(apiVersion, 'ValkeyUpgrade', 'valkeyupgrades');

export async function askForUpgrade(
  { lab, namespace, name: own }: TestCluster,
  name: string,
  target: string | { name: string; tag: string },
  whom = own,
  patience: Pick<Partial<ValkeyUpgrade['spec']>, 'podReadyTimeout'> = {},
): Promise<void> {
  const wish = typeof target === 'string' ? { targetVersion: target } : { image: target };
  const spec = { clusterRef: { name: whom }, ...wish, ...patience };
  await lab.apply(JSON.stringify({ apiVersion, kind: 'ValkeyUpgrade', metadata: { name, namespace }, spec }));
}

export function findUpgrade({ client, namespace }: TestCluster, name: string) {
  return client.get(valkeyUpgrades, { namespace, name });
}
