import type { buildPodTemplate } from '../builders/pod-template.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';
import { memoryOf, noSettings, type SimulatedPod } from './simulated-pod.ts';

type StatefulSetSpec = { readonly template?: ReturnType<typeof buildPodTemplate> };

/** As many pods as the StatefulSet asks for: the highest go, and those that lack are made. */
export function runKubelets(cluster: SimulatedCluster): void {
  const { pods, podCount, spec, unschedulable } = cluster;
  const surplus = pods.filter(({ ordinal }) => ordinal >= podCount);
  for (const { ordinal } of surplus) cluster.losePod(ordinal, { volume: !spec.pvc });
  for (let ordinal = 0; ordinal < podCount; ordinal += 1) {
    const isThere = pods.some((pod) => pod.ordinal === ordinal);
    if (!isThere && !unschedulable.has(ordinal)) pods.push(makePod(cluster, ordinal));
  }
  pods.sort((a, b) => a.ordinal - b.ordinal);
}

/** Of the present template; Valkey has yet to start in it. */
export function makePod(cluster: SimulatedCluster, ordinal: number): SimulatedPod {
  const { names, now, brokenImages, homes, kubernetesNodes, nodeMemory, statefulSet } = cluster;
  const home = homes.get(ordinal) ?? kubernetesNodes[ordinal % kubernetesNodes.length];
  const { name: kubernetesNode = '', zone = '' } = home ?? {};
  const name = names.pod(ordinal);
  const { template } = (statefulSet?.['spec'] ?? {}) as StatefulSetSpec;
  const [valkey, exporter] = template?.spec.containers ?? [];
  const { image = '', resources } = valkey ?? {};
  const memory = memoryOf(resources);
  return {
    name,
    hostname: `${name}.${names.headlessService}.${cluster.cluster.metadata.namespace}.svc`,
    ordinal,
    uid: cluster.nextId('pod'),
    ip: cluster.nextId('ip'),
    kubernetesNode,
    zone,
    process: 'absent',
    gatedSince: 0,
    node: undefined,
    heard: true,
    lastReport: undefined,
    labels: {},
    ...noSettings(),
    annotations: { ...template?.metadata.annotations },
    image,
    version: cluster.versionOf(image),
    createdAt: now,
    readiness: { ready: false, changedAt: now },
    broken: brokenImages.has(image),
    exporter: exporter && (brokenImages.has(exporter.image) ? 'broken' : 'running'),
    memory,
    resize: undefined,
    homeless: memory > nodeMemory,
  };
}
