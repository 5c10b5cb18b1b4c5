import {
  builtInDefaults,
  resolveEffectiveSpec,
  type ValkeyCluster,
  type ValkeyClusterDefaults,
} from '@valkey-operator/api';
import {
  type ChildObject,
  childNames,
  type ClaimView,
  type ClusterSnapshot,
  type KubernetesNodeView,
  type OperatorView,
} from '@valkey-operator/core';
import type {
  KubeClient,
  KubeObject,
  Live,
  Node,
  PersistentVolumeClaim,
  Pod,
  ResourceCache,
} from '@valkey-operator/kube';
import { readSecretCertificate } from './authorities.ts';
import type { Caches } from './caches.ts';
import { findNamesakes } from './namesakes.ts';
import { ordinalOf, viewPod, withoutUndefined } from './pod-view.ts';
import type { ReportBook } from './report-book.ts';
import type { Sessions } from './sessions.ts';

export interface ObserveContext {
  client: KubeClient;
  caches: Caches;
  reports: ReportBook;
  sessions: Sessions;
  operator: OperatorView;
  now: () => number;
}

const DEFAULTS = 'valkey-operator-defaults';
const ZONE = 'topology.kubernetes.io/zone';

/** Everything that is known of one cluster, in one immutable piece. */
export async function observeCluster(context: ObserveContext, cluster: Live<ValkeyCluster>): Promise<ClusterSnapshot> {
  const { caches, operator, now } = context;
  const { namespace, name } = cluster.metadata;
  const spec = resolveEffectiveSpec(
    builtInDefaults,
    defaultsOf(caches, operator.namespace),
    defaultsOf(caches, namespace),
    cluster.spec,
  );
  const zones = new Map(caches.kubernetesNodes.list().map((node) => [node.metadata.name, zoneOf(node)]));
  const own = <T extends KubeObject>(cache: ResourceCache<T, 'cluster'>) =>
    cache.byIndex('cluster', name).filter((object) => object.metadata.namespace === namespace);
  const labelled = [
    ...own(caches.serviceAccounts),
    ...own(caches.configMaps),
    ...own(caches.services),
    ...own(caches.networkPolicies),
    ...own(caches.disruptionBudgets),
    ...own(caches.statefulSets),
    ...own(caches.details),
  ] as ChildObject[];
  const certificate = (secretName: string) => {
    const secret = caches.secrets.get({ namespace, name: secretName });
    const { rotateBeforePercent } = spec.operatorMtls;
    return secret && readSecretCertificate(secret, rotateBeforePercent, cluster.metadata.uid, new Date(now()));
  };
  const names = childNames(name);
  return {
    now: now(),
    cluster,
    spec,
    operator,
    children: [...labelled, ...(await findNamesakes(context.client, cluster, labelled))],
    pods: own(caches.pods).map((pod) => viewPod(pod, zones, reportOf(context, pod))),
    claims: own(caches.claims).map(viewClaim),
    kubernetesNodes: caches.kubernetesNodes.list().map(viewNode),
    certificates: withoutUndefined({
      intermediate: certificate(names.intermediateSecret),
      sidecar: certificate(names.sidecarSecret),
    }),
  };
}

function defaultsOf(caches: Caches, namespace: string): ValkeyClusterDefaults['spec'] {
  return caches.defaults.get({ namespace, name: DEFAULTS })?.spec ?? {};
}

function viewClaim({ metadata, spec, status }: Live<PersistentVolumeClaim>): ClaimView {
  return {
    name: metadata.name,
    uid: metadata.uid,
    ordinal: ordinalOf(metadata.name),
    storage: spec?.resources?.requests?.storage ?? '',
    phase: (status?.phase ?? 'Pending') as ClaimView['phase'],
    ...withoutUndefined({
      capacity: status?.capacity?.storage,
      deletionTimestamp: metadata.deletionTimestamp,
    }),
  };
}

function viewNode(node: Live<Node>): KubernetesNodeView {
  const ready = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  return { name: node.metadata.name, ready, ...withoutUndefined({ zone: zoneOf(node) }) };
}

function zoneOf(node: Live<Node>): string | undefined {
  return node.metadata.labels?.[ZONE];
}

function reportOf({ reports, sessions }: ObserveContext, { metadata: { uid } }: Live<Pod>) {
  return reports.view(uid, sessions.find(uid) !== undefined);
}
