import { apiVersion, builtInDefaults, defaultsName, labels, managedBy } from '@valkey-operator/api';
import { isKubeError, type KubeClient, type KubeObject } from '@valkey-operator/kube';
import type { Caches } from './caches.ts';
import { valkeyClusterDefaults } from './resources.ts';

/**
 * The defaults of this installation, written out once so that people see and change them (B8). What is there is never
 * touched again. The sidecar's image stays out of it: it comes with the operator, and must follow its upgrades.
 */
export async function createOperatorDefaults(client: KubeClient, caches: Caches, namespace: string): Promise<void> {
  if (caches.defaults.get({ namespace, name: defaultsName })) return;
  const { sidecarImage: _, ...spec } = builtInDefaults;
  const metadata = { namespace, name: defaultsName, labels: { [labels.managedBy]: managedBy } };
  const defaults: KubeObject & { spec: object } = { apiVersion, kind: 'ValkeyClusterDefaults', metadata, spec };
  try {
    await client.create<KubeObject>(valkeyClusterDefaults, defaults);
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
  }
}
