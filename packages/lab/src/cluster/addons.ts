import type { LabLayout } from './layout.ts';

const COREDNS_IMAGE = 'registry.k8s.io/coredns/coredns:v1.15.0';
/** What the kube-dns Service selects. */
export const DNS_LABEL = { 'k8s-app': 'kube-dns' };
export const STORAGE_CLASS = 'lab';
export const PROVISIONER = 'valkey-lab/host-path';

/** What every cluster is expected to have beyond Kubernetes itself: names for Services, and volumes on request. */
export function addonManifests(lab: LabLayout): string {
  return [...dnsObjects(lab), ...kubeletRights(), storageClass()]
    .map((object) => JSON.stringify(object))
    .join('\n---\n');
}

/**
 * A kubelet may read what its pods refer to as soon as the API server's node authorizer has heard of the pod. The kubelet
 * often hears first, is refused, and looks again 1.7 s later: every other pod with a Secret would start that late.
 */
function kubeletRights() {
  const name = 'lab-kubelet';
  return [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name },
      rules: [
        { apiGroups: [''], resources: ['secrets', 'configmaps', 'pods'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'Group', name: 'system:nodes', apiGroup: 'rbac.authorization.k8s.io' }],
    },
  ];
}

function storageClass() {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: STORAGE_CLASS, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: PROVISIONER,
    // The volume is a directory of the node that the pod was scheduled to, so the pod comes first.
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: true,
    reclaimPolicy: 'Delete',
  };
}

function dnsObjects(lab: LabLayout) {
  const metadata = (name: string) => ({ name, namespace: 'kube-system', labels: DNS_LABEL });
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP' },
    { name: 'dns-tcp', port: 53, protocol: 'TCP' },
  ];
  const corefile = `.:53 {
  errors
  health {
    lameduck 2s
  }
  ready
  kubernetes cluster.local in-addr.arpa {
    pods insecure
    ttl 2
  }
  cache 2
  reload
}
`;
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: metadata('coredns') },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'lab-coredns' },
      rules: [
        { apiGroups: [''], resources: ['services', 'pods', 'namespaces', 'endpoints'], verbs: ['list', 'watch'] },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'lab-coredns' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'lab-coredns' },
      subjects: [{ kind: 'ServiceAccount', name: 'coredns', namespace: 'kube-system' }],
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata('coredns'), data: { Corefile: corefile } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: metadata('kube-dns'),
      spec: { clusterIP: lab.dnsAddress, selector: DNS_LABEL, ports },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: metadata('coredns'),
      spec: {
        replicas: 1,
        selector: { matchLabels: DNS_LABEL },
        template: { metadata: { labels: DNS_LABEL }, spec: dnsPod() },
      },
    },
  ];
}

function dnsPod() {
  return {
    serviceAccountName: 'coredns',
    priorityClassName: 'system-cluster-critical',
    dnsPolicy: 'Default',
    tolerations: [{ operator: 'Exists' }],
    containers: [
      {
        name: 'coredns',
        image: COREDNS_IMAGE,
        imagePullPolicy: 'IfNotPresent',
        args: ['-conf', '/etc/coredns/Corefile'],
        readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
        livenessProbe: { httpGet: { path: '/health', port: 8080 }, initialDelaySeconds: 10 },
        securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
        volumeMounts: [{ name: 'config', mountPath: '/etc/coredns', readOnly: true }],
      },
    ],
    volumes: [{ name: 'config', configMap: { name: 'coredns' } }],
  };
}
