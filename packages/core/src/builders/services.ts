import { labels, ports } from '@valkey-operator/api';
import type { ChildObject } from '../snapshot.ts';
import { type ChildrenInput, podCount } from './children-input.ts';
import { EXPORTER } from './exporter.ts';
import { childMetadata, selectorLabels } from './metadata.ts';
import { childNames } from './names.ts';

/** How nodes find each other, and how clients find them (C13). */
export function buildServices(input: ChildrenInput): ChildObject[] {
  const { read, external } = input.spec.services;
  return [
    buildHeadlessService(input),
    buildClientService(input),
    ...(read.enabled ? [buildReadService(input)] : []),
    ...(external.enabled ? buildExternalServices(input) : []),
    ...buildExporterService(input),
  ];
}

/** Names for pods, also before they are ready: nodes must find each other in order to become ready. */
function buildHeadlessService(input: ChildrenInput): ChildObject {
  const { name } = input.cluster.metadata;
  return buildService(input, childNames(name).headlessService, undefined, {
    clusterIP: 'None',
    publishNotReadyAddresses: true,
    selector: selectorLabels(name),
    ports: [port('valkey', ports.valkey), port('bus', ports.valkeyBus)],
  });
}

function buildClientService(input: ChildrenInput): ChildObject {
  const { name } = input.cluster.metadata;
  const { type, annotations } = input.spec.services.client;
  return buildService(input, childNames(name).clientService, annotations, {
    type,
    selector: selectorLabels(name),
    ports: [port('valkey', ports.valkey)],
  });
}

/** Replicas, by the label that the operator keeps true. */
function buildReadService(input: ChildrenInput): ChildObject {
  const { name } = input.cluster.metadata;
  return buildService(input, childNames(name).readService, input.spec.services.read.annotations, {
    type: 'ClusterIP',
    selector: { ...selectorLabels(name), [labels.role]: 'replica' },
    ports: [port('valkey', ports.valkey)],
  });
}

/**
 * The exporters that pods are made with at present. Its name has all their addresses, so that nothing but the name needs to be
 * known to find them; while the port changes, each pod is found at its own.
 */
function buildExporterService(input: ChildrenInput): ChildObject[] {
  const { enabled, port: number } = (input.template ?? input.spec).exporter;
  if (!enabled) return [];
  const { name } = input.cluster.metadata;
  const service = buildService(input, childNames(name).exporterService, undefined, {
    clusterIP: 'None',
    publishNotReadyAddresses: true,
    selector: selectorLabels(name),
    ports: [{ ...port(EXPORTER, number), targetPort: EXPORTER }],
  });
  const { metadata } = service;
  return [{ ...service, metadata: { ...metadata, labels: { ...metadata.labels, [labels.component]: EXPORTER } } }];
}

/**
 * One per pod: a client of a cluster must reach the very node that has the slot, ready or not. A primary that got its first
 * slots is not ready before the kubelet has asked it again.
 */
function buildExternalServices(input: ChildrenInput): ChildObject[] {
  const { name } = input.cluster.metadata;
  const { type = 'LoadBalancer', annotations, loadBalancerSourceRanges, firstNodePort } = input.spec.services.external;
  const isNodePort = type === 'NodePort';
  return Array.from({ length: input.replicas ?? podCount(input.spec) }, (_, ordinal) => {
    const nodePort = isNodePort && firstNodePort !== undefined ? { nodePort: firstNodePort + ordinal } : {};
    return buildService(input, childNames(name).externalService(ordinal), annotations, {
      type,
      publishNotReadyAddresses: true,
      selector: { ...selectorLabels(name), 'statefulset.kubernetes.io/pod-name': childNames(name).pod(ordinal) },
      ports: [{ ...port('valkey', ports.valkey), ...nodePort }],
      ...(!isNodePort && loadBalancerSourceRanges ? { loadBalancerSourceRanges } : {}),
    });
  });
}

function buildService(
  { cluster, spec }: ChildrenInput,
  name: string,
  annotations: Readonly<Record<string, string>> | undefined,
  service: object,
): ChildObject {
  const metadata = childMetadata({ ...cluster, spec }, name);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, annotations: { ...annotations, ...metadata.annotations } },
    spec: service,
  };
}

function port(name: string, number: number) {
  return { name, port: number, targetPort: number, protocol: 'TCP' };
}
