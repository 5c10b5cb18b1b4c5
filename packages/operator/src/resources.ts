import {
  apiVersion,
  type ValkeyCA,
  type ValkeyCertificateBinding,
  type ValkeyCertificateBundle,
  type ValkeyCluster,
  type ValkeyClusterDefaults,
  type ValkeyClusterStatus,
  type ValkeyUpgrade,
} from '@valkey-operator/api';
import {
  configMaps,
  defineResource,
  type KubeObject,
  networkPolicies,
  podDisruptionBudgets,
  pods,
  type Resource,
  serviceAccounts,
  services,
  statefulSets,
} from '@valkey-operator/kube';

/** Our own kinds, as the Kubernetes client addresses them. */
export const valkeyClusters = define<ValkeyCluster>('ValkeyCluster', 'valkeyclusters');
export const valkeyClusterStatuses = define<ValkeyClusterStatus>('ValkeyClusterStatus', 'valkeyclusterstatuses');
export const valkeyClusterDefaults = define<ValkeyClusterDefaults>('ValkeyClusterDefaults', 'valkeyclusterdefaults');
export const valkeyUpgrades = define<ValkeyUpgrade>('ValkeyUpgrade', 'valkeyupgrades');
export const valkeyCas = define<ValkeyCA>('ValkeyCA', 'valkeycas');
export const valkeyCertificateBundles = define<ValkeyCertificateBundle>(
  'ValkeyCertificateBundle',
  'valkeycertificatebundles',
);
export const valkeyCertificateBindings = define<ValkeyCertificateBinding>(
  'ValkeyCertificateBinding',
  'valkeycertificatebindings',
);

/** The kinds of children that the planner builds and compares; the detail of a status is one of them. */
export const childResources = [
  serviceAccounts,
  configMaps,
  services,
  networkPolicies,
  podDisruptionBudgets,
  statefulSets,
  valkeyClusterStatuses,
] as Resource[];

/** The only pod that the operator makes itself is one on which settings are proven. */
export function childResource(kind: string): Resource {
  const resource = [...childResources, pods as Resource].find((candidate) => candidate.kind === kind);
  if (!resource) throw new Error(`the operator makes no ${kind}`);
  return resource;
}

function define<T>(kind: string, plural: string): Resource<T & KubeObject> {
  return defineResource<T & KubeObject>(apiVersion, kind, plural);
}
