import {
  configMaps,
  networkPolicies,
  podDisruptionBudgets,
  type Resource,
  serviceAccounts,
  services,
  statefulSets,
} from '@valkey-operator/kube';
import { valkeyClusterStatuses } from './resources.ts';

const RESOURCES = [
  serviceAccounts,
  configMaps,
  services,
  networkPolicies,
  podDisruptionBudgets,
  statefulSets,
  valkeyClusterStatuses,
] as Resource[];

/** Where the API server keeps a kind of child. */
export function childResource(kind: string): Resource {
  const resource = RESOURCES.find((candidate) => candidate.kind === kind);
  if (!resource) throw new Error(`the operator makes no ${kind}`);
  return resource;
}
