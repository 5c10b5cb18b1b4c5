import { labels } from '@valkey-operator/api';
import {
  byLabel,
  configMaps,
  dropManagedFields,
  type KubeClient,
  type KubeObject,
  type Live,
  networkPolicies,
  type Node,
  nodes,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  ResourceCache,
  type Resource,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
} from '@valkey-operator/kube';
import { valkeyClusterDefaults, valkeyClusters, valkeyClusterStatuses } from './resources.ts';

export type Caches = ReturnType<typeof createCaches>;

export interface CacheOptions {
  client: KubeClient;
  namespaces: string[] | undefined;
  onError: (error: unknown) => void;
}

/** Everything the operator looks at, in memory. Children are found by the label that they all carry. */
export function createCaches({ client, namespaces, onError }: CacheOptions) {
  const common = { client, namespaces, onError };
  const own = <T extends KubeObject>(resource: Resource<T>) =>
    new ResourceCache({
      ...common,
      resource,
      labelSelector: labels.cr,
      indexers: { cluster: byLabel(labels.cr) },
    });
  return {
    clusters: new ResourceCache({ ...common, resource: valkeyClusters }),
    defaults: new ResourceCache({ ...common, resource: valkeyClusterDefaults }),
    details: own(valkeyClusterStatuses),
    pods: own(pods),
    claims: own(persistentVolumeClaims),
    statefulSets: own(statefulSets),
    configMaps: own(configMaps),
    services: own(services),
    serviceAccounts: own(serviceAccounts),
    networkPolicies: own(networkPolicies),
    disruptionBudgets: own(podDisruptionBudgets),
    secrets: own(secrets),
    kubernetesNodes: new ResourceCache({ client, onError, resource: nodes, transform: keepPlace }),
  };
}

/** A node's status is large and changes every few seconds; only its place and its readiness matter here. */
function keepPlace(node: Live<Node>): Live<Node> {
  const { conditions = [] } = node.status ?? {};
  const ready = conditions.filter(({ type }) => type === 'Ready').map(({ type, status }) => ({ type, status }));
  const { name, uid, resourceVersion, labels: nodeLabels } = dropManagedFields(node).metadata;
  const metadata = { name, uid, resourceVersion, labels: nodeLabels ?? {} };
  return { apiVersion: 'v1', kind: 'Node', metadata, status: { conditions: ready } };
}
