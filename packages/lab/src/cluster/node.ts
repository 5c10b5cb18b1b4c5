import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { LabAuthority } from './certificates.ts';
import { apiServerUrl } from './control-plane.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import type { LabLayout, NodeLayout } from './layout.ts';
import type { ComponentSpec } from './processes.ts';

const CNI_PLUGINS = '/usr/lib/cni';
const PAUSE_IMAGE = 'registry.k8s.io/pause:3.10';

/** Write the configuration of one node: container runtime, pod network, kubelet, kube-proxy. */
export async function prepareNode(lab: LabLayout, node: NodeLayout, authority: LabAuthority): Promise<void> {
  for (const dir of ['cni', 'pod-logs', 'kubelet', 'manifests', 'volumes', 'logs']) {
    mkdirSync(join(node.dir, dir), { recursive: true });
  }
  mkdirSync(node.runDir, { recursive: true });
  writeFileSync(join(node.dir, 'containerd.toml'), containerdConfig(node));
  writeFileSync(join(node.dir, 'cni', '10-lab.conflist'), JSON.stringify(podNetwork(node), null, 2));
  writeFileSync(join(node.dir, 'kubelet.yaml'), stringify(kubeletConfig(lab, node)));
  writeFileSync(join(node.dir, 'kube-proxy.yaml'), stringify(kubeProxyConfig(lab)));
  const identity = await authority.issue(`system:node:${node.name}`, { group: 'system:nodes' });
  writeKubeconfig(join(node.dir, 'kubelet.kubeconfig'), lab, apiServerUrl(lab), authority.cert, identity);
}

/** containerd comes first: its images are loaded before the kubelet asks for one. */
export function containerdComponent(node: NodeLayout): ComponentSpec {
  return nodeComponent(node, 'containerd', [
    'containerd',
    `--config=${join(node.dir, 'containerd.toml')}`,
    '--log-level=warn',
  ]);
}

export function kubeletComponents(node: NodeLayout, binaries: string): ComponentSpec[] {
  return [
    nodeComponent(node, 'kubelet', [
      join(binaries, 'kubelet'),
      `--config=${join(node.dir, 'kubelet.yaml')}`,
      `--kubeconfig=${join(node.dir, 'kubelet.kubeconfig')}`,
      `--hostname-override=${node.name}`,
      `--node-ip=${node.address}`,
      `--root-dir=${join(node.dir, 'kubelet')}`,
      `--cert-dir=${join(node.dir, 'kubelet', 'pki')}`,
      `--node-labels=topology.kubernetes.io/zone=${node.zone},topology.kubernetes.io/region=lab`,
    ]),
    nodeComponent(node, 'kube-proxy', [
      join(binaries, 'kube-proxy'),
      `--config=${join(node.dir, 'kube-proxy.yaml')}`,
      `--hostname-override=${node.name}`,
    ]),
  ];
}

function nodeComponent(node: NodeLayout, name: string, argv: [string, ...string[]]): ComponentSpec {
  return {
    name: `${node.name}/${name}`,
    netns: node.netns,
    mountNamespace: node.mountNamespace,
    argv,
    log: join(node.dir, 'logs', `${name}.log`),
    cgroup: `${node.cgroup}/system`,
  };
}

function containerdConfig(node: NodeLayout): string {
  return `version = 2
root = "${join(node.dir, 'containerd')}"
state = "${join(node.runDir, 'containerd')}"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.internal.v1.tracing", "io.containerd.tracing.processor.v1.otlp"]
[grpc]
  address = "${node.containerdSocket}"
[debug]
  address = ""
[plugins."io.containerd.internal.v1.opt"]
  path = "${join(node.dir, 'opt')}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE_IMAGE}"
  # Without CAP_SYS_RESOURCE on the machine no process may lower its OOM score, and every sandbox would die of trying.
  restrict_oom_score_adj = true
  # Below the node's own directory, whose mounts end with the node.
  netns_mounts_under_state_dir = true
  enable_unprivileged_ports = true
  enable_unprivileged_icmp = true
  max_container_log_line_size = 65536
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${CNI_PLUGINS}"
    conf_dir = "${join(node.dir, 'cni')}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
`;
}

/**
 * Every pod has a routed cable of its own (ptp). On a shared bridge, the answer to a Service call between two pods of one
 * node would not pass the node's address translation unless br_netfilter is loaded, which a lab must not depend on.
 */
function podNetwork(node: NodeLayout) {
  return {
    cniVersion: '0.4.0',
    name: 'lab',
    plugins: [
      {
        type: 'ptp',
        ipMasq: false,
        ipam: {
          type: 'host-local',
          dataDir: join(node.dir, 'ipam'),
          ranges: [[{ subnet: node.podCidr }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}

function kubeletConfig(lab: LabLayout, node: NodeLayout) {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: { anonymous: { enabled: false }, x509: { clientCAFile: join(lab.dir, 'pki', 'ca.crt') } },
    authorization: { mode: 'Webhook' },
    clusterDNS: [lab.dnsAddress],
    clusterDomain: 'cluster.local',
    resolvConf: '',
    containerRuntimeEndpoint: `unix://${node.containerdSocket}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: node.cgroup,
    cgroupsPerQOS: true,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    failSwapOn: false,
    podLogsDir: join(node.dir, 'pod-logs'),
    volumePluginDir: join(node.dir, 'kubelet', 'volume-plugins'),
    staticPodPath: join(node.dir, 'manifests'),
    evictionHard: {
      'imagefs.available': '0%',
      'nodefs.available': '0%',
      'nodefs.inodesFree': '0%',
      'memory.available': '0%',
    },
    imageGCHighThresholdPercent: 100,
    serializeImagePulls: false,
    maxPods: 200,
    nodeStatusUpdateFrequency: '4s',
    nodeLeaseDurationSeconds: 12,
    syncFrequency: '30s',
    kubeAPIQPS: 100,
    kubeAPIBurst: 200,
    eventRecordQPS: 50,
    shutdownGracePeriod: '0s',
  };
}

function kubeProxyConfig(lab: LabLayout) {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clusterCIDR: lab.podCidr,
    clientConnection: { kubeconfig: join(lab.dir, 'kube-proxy.kubeconfig') },
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    nftables: { minSyncPeriod: '100ms', syncPeriod: '30s' },
  };
}
