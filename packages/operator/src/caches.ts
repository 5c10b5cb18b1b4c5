import { labels } from '@valkey-operator/api';
import {
  byLabel,
  type KubeClient,
  type KubeObject,
  type Live,
  type Node,
  nodes,
  persistentVolumeClaims,
  pods,
  ResourceCache,
  type Resource,
  secrets,
} from '@valkey-operator/kube';
import { keepCertificates } from './certificates/certificate-secret.ts';
import {
  childResources,
  valkeyClusterDefaults,
  valkeyClusters,
  valkeyClusterStatuses,
  valkeyUpgrades,
} from './resources.ts';

export type Caches = ReturnType<typeof createCaches>;
/** Objects of clusters, found by the label that they all carry. */
export type ClusterCache<T extends KubeObject = KubeObject> = ResourceCache<T, 'cluster'>;

export interface CacheOptions {
  client: KubeClient;
  /** The operator's own, where its defaults are. */
  namespace: string;
  watchNamespaces: string[] | undefined;
  onError: (error: unknown) => void;
}

/** Everything the operator looks at, in memory. */
export function createCaches({ client, namespace, watchNamespaces, onError }: CacheOptions) {
  const common = { client, onError, namespaces: watchNamespaces };
  const own = <T extends KubeObject>(resource: Resource<T>, transform?: (object: Live<T>) => Live<T>) =>
    new ResourceCache({
      ...common,
      resource,
      labelSelector: labels.cr,
      indexers: { cluster: byLabel(labels.cr) },
      ...(transform && { transform }),
    });
  const details = own(valkeyClusterStatuses);
  const others = childResources.filter(({ kind }) => kind !== valkeyClusterStatuses.kind);
  return {
    clusters: new ResourceCache({ ...common, resource: valkeyClusters }),
    defaults: new ResourceCache({
      ...common,
      resource: valkeyClusterDefaults,
      namespaces: watchNamespaces && [...new Set([...watchNamespaces, namespace])],
    }),
    upgrades: new ResourceCache({
      ...common,
      resource: valkeyUpgrades,
      indexers: { cluster: ({ spec }) => [spec.clusterRef.name] },
    }),
    pods: own(pods),
    claims: own(persistentVolumeClaims),
    secrets: own(secrets, keepCertificates),
    kubernetesNodes: new ResourceCache({ client, onError, resource: nodes, transform: keepPlace }),
    details,
    /** Of every kind that the planner builds, by kind. */
    children: new Map<string, ClusterCache>([
      ...others.map((resource) => [resource.kind, own(resource)] as const),
      [valkeyClusterStatuses.kind, details as unknown as ClusterCache],
    ]),
  };
}

/** Each with a name for logs and metrics. */
export function listCaches({ children, details: _, ...others }: Caches) {
  return [...Object.entries(others), ...children] as [string, ResourceCache<KubeObject>][];
}

/** A node's status is large and changes every few seconds; only its place and whether pods can be there matter here. */
function keepPlace(node: Live<Node>): Live<Node> {
  const { conditions = [] } = node.status ?? {};
  const ready = conditions.filter(({ type }) => type === 'Ready').map(({ type, status }) => ({ type, status }));
  const { name, uid, resourceVersion, labels: nodeLabels = {} } = node.metadata;
  const metadata = { name, uid, resourceVersion, labels: nodeLabels };
  const addresses = node.status?.addresses ?? [];
  const { unschedulable } = node.spec ?? {};
  const spec = unschedulable ? { spec: { unschedulable } } : {};
  return { apiVersion: 'v1', kind: 'Node', metadata, ...spec, status: { conditions: ready, addresses } };
}
