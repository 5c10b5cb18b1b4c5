import { apiVersion, type EffectiveClusterSpec, labels, ports, type ValkeyCluster } from '@valkey-operator/api';
import type { ChildObject } from '../snapshot.ts';
import { type ChildrenInput, podCount } from './children-input.ts';
import { childMetadata, selectorLabels } from './metadata.ts';
import { childNames } from './names.ts';
import { buildPodTemplate } from './pod-template.ts';
import { buildServices } from './services.ts';
import { buildSettings, formatSettings, SETTINGS_KEY } from './settings.ts';

/** Every object of a cluster except Secrets, in the order in which they are needed. */
export function buildChildren(input: ChildrenInput): ChildObject[] {
  return [
    buildServiceAccount(input),
    buildConfigMap(input),
    ...buildServices(input),
    buildNetworkPolicy(input),
    buildDisruptionBudget(input),
    buildStatefulSet(input),
    buildDetail(input),
  ];
}

export function buildStatefulSet({ cluster, spec, operator, replicas, template = spec }: ChildrenInput): ChildObject {
  const names = childNames(cluster.metadata.name);
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: childMetadata({ ...cluster, spec }, names.statefulSet),
    spec: {
      serviceName: names.headlessService,
      replicas: replicas ?? podCount(spec),
      // All pods at once: which of them become primaries is decided after Kubernetes has placed them.
      podManagementPolicy: 'Parallel',
      // Only the operator knows which pod may go when.
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: selectorLabels(cluster.metadata.name) },
      template: buildPodTemplate(cluster, template, operator),
      ...(spec.pvc ? { volumeClaimTemplates: [claimTemplate(cluster, spec.pvc)] } : {}),
    },
  };
}

function claimTemplate(cluster: ValkeyCluster, pvc: NonNullable<EffectiveClusterSpec['pvc']>) {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', labels: selectorLabels(cluster.metadata.name) },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: String(pvc.storageSize) } },
      ...(pvc.storageClassName ? { storageClassName: pvc.storageClassName } : {}),
    },
  };
}

/** What the claims of a StatefulSet are made with: as it was when that was made, for it cannot be changed afterwards. */
export function claimSizeOf(statefulSet: ChildObject | undefined): string | undefined {
  const { volumeClaimTemplates = [] } = (statefulSet?.['spec'] ?? {}) as {
    volumeClaimTemplates?: readonly { readonly spec: { readonly resources: { requests: { storage: string } } } }[];
  };
  return volumeClaimTemplates[0]?.spec.resources.requests.storage;
}

function buildServiceAccount({ cluster, spec }: ChildrenInput): ChildObject {
  const metadata = childMetadata({ ...cluster, spec }, childNames(cluster.metadata.name).serviceAccount);
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken: false };
}

function buildConfigMap({ cluster, spec, settings }: ChildrenInput): ChildObject {
  const metadata = childMetadata({ ...cluster, spec }, childNames(cluster.metadata.name).configMap);
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { [SETTINGS_KEY]: formatSettings(settings ?? buildSettings(spec)) },
  };
}

/** Nobody may evict a pod at rest: the operator lets them go one at a time (D2), and while one is away, no other may go. */
function buildDisruptionBudget({ cluster, spec, replicas = podCount(spec), mayLackOne }: ChildrenInput): ChildObject {
  const { name } = cluster.metadata;
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: childMetadata({ ...cluster, spec }, childNames(name).disruptionBudget),
    spec: { minAvailable: mayLackOne ? replicas - 1 : '100%', selector: { matchLabels: selectorLabels(name) } },
  };
}

/**
 * Clients reach the client port; the bus is for members only, the sidecar's ports for the operator and the kubelet. Metrics are for
 * whoever asks: where Prometheus runs is not known.
 */
function buildNetworkPolicy({ cluster, spec, operator, template = spec }: ChildrenInput): ChildObject {
  const { name } = cluster.metadata;
  const { exporter } = template;
  const members = { podSelector: { matchLabels: selectorLabels(name) } };
  const operatorPods = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': operator.namespace } },
    podSelector: { matchLabels: { [labels.name]: 'valkey-operator' } },
  };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: childMetadata({ ...cluster, spec }, childNames(name).networkPolicy),
    spec: {
      podSelector: members.podSelector,
      policyTypes: ['Ingress'],
      ingress: [
        {
          ports: [
            { protocol: 'TCP', port: ports.valkey },
            { protocol: 'TCP', port: ports.sidecarHttp },
            ...(exporter.enabled ? [{ protocol: 'TCP', port: exporter.port }] : []),
          ],
        },
        { from: [members], ports: [{ protocol: 'TCP', port: ports.valkeyBus }] },
        { from: [operatorPods], ports: [{ protocol: 'TCP', port: ports.sidecarGrpc }] },
      ],
    },
  };
}

function buildDetail({ cluster, spec }: ChildrenInput): ChildObject {
  const { name } = cluster.metadata;
  return {
    apiVersion,
    kind: 'ValkeyClusterStatus',
    metadata: childMetadata({ ...cluster, spec }, childNames(name).status),
    spec: { clusterRef: name },
  };
}
