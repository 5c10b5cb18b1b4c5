import {
  builtInDefaults,
  defaultsName,
  parseQuantity,
  resolveEffectiveSpec,
  type ValkeyCluster,
  type ValkeyClusterDefaults,
} from '@valkey-operator/api';
import {
  type ChildObject,
  childNames,
  type ClaimView,
  type ClusterSnapshot,
  formatImage,
  type KubernetesNodeView,
  type OperatorView,
  withUpgradedImage,
} from '@valkey-operator/core';
import {
  controllerOf,
  isControlledBy,
  type KubeClient,
  type KubeObject,
  type Live,
  type Node,
  type PersistentVolumeClaim,
  type Pod,
  storageClasses,
} from '@valkey-operator/kube';
import type { Caches, ClusterCache } from '../caches.ts';
import { viewCertificate } from '../certificates/certificate-view.ts';
import type { ReportBook } from '../wire/report-book.ts';
import type { Sessions } from '../wire/sessions.ts';
import { findNamesakes } from './namesakes.ts';
import { isTrial, viewTrial } from './trial-view.ts';
import type { RefusalBook } from './refusal-book.ts';
import type { RepairBook } from './repair-book.ts';
import { ordinalOf, viewPod, withoutUndefined } from './pod-view.ts';

export interface ObserveContext {
  client: Pick<KubeClient, 'get'>;
  caches: Caches;
  reports: ReportBook;
  sessions: Pick<Sessions, 'find'>;
  authorities: { readonly rootCertificate: string };
  operator: OperatorView;
  repairs: Pick<RepairBook, 'view'>;
  refusals: Pick<RefusalBook, 'view'>;
  now: () => number;
}

const ZONE = 'topology.kubernetes.io/zone';

/** Everything that is known of one cluster, in one immutable piece. Secrets are not in it, only what certificates say. */
export async function observeCluster(context: ObserveContext, cluster: Live<ValkeyCluster>): Promise<ClusterSnapshot> {
  const { client, caches, operator, now } = context;
  const { namespace, name } = cluster.metadata;
  const resolved = effectiveSpec(caches, operator.namespace, cluster);
  const detail = caches.details.get({ namespace, name: childNames(name).status });
  const spec = withUpgradedImage(resolved, detail?.status);
  const own = <T extends KubeObject>(cache: ClusterCache<T>) =>
    cache.byIndex('cluster', name).filter((object) => object.metadata.namespace === namespace);
  const pods = own(caches.pods);
  const findTrial = (trialName: string) => {
    const pod = caches.pods.get({ namespace, name: trialName });
    return pod && isControlledBy(pod, cluster) ? viewTrial(pod) : undefined;
  };
  const [trial, imageTrial] = [findTrial(childNames(name).trial), findTrial(childNames(name).imageTrial)];
  const labelled = [...caches.children.values()].flatMap(own) as ChildObject[];
  const namesakes = await findNamesakes(client, { cluster, spec, operator }, labelled);
  return {
    now: now(),
    cluster,
    spec,
    writtenImage: formatImage(resolved.valkeyImage),
    upgrades: caches.upgrades.byIndex('cluster', name).filter(({ metadata }) => metadata.namespace === namespace),
    operator,
    children: [...labelled, ...namesakes],
    pods: viewPods(
      context,
      cluster,
      pods.filter((pod) => !isTrial(pod)),
    ),
    ...(trial && { trial }),
    ...(imageTrial && { imageTrial }),
    claims: await viewClaims(client, own(caches.claims).map(viewClaim), spec),
    kubernetesNodes: caches.kubernetesNodes.list().map(viewNode),
    repairs: context.repairs.view(`${namespace}/${name}`),
    refusals: context.refusals.view(`${namespace}/${name}`),
    certificates: viewCertificates(context, cluster, spec.operatorMtls.rotateBeforePercent),
  };
}

function effectiveSpec(caches: Caches, operatorNamespace: string, cluster: ValkeyCluster): ClusterSnapshot['spec'] {
  const defaultsOf = (namespace: string): ValkeyClusterDefaults['spec'] =>
    caches.defaults.get({ namespace, name: defaultsName })?.spec ?? {};
  const { namespace } = cluster.metadata;
  return resolveEffectiveSpec(builtInDefaults, defaultsOf(operatorNamespace), defaultsOf(namespace), cluster.spec);
}

/** Without the last pods of a deleted cluster of the same name: their StatefulSet has another owner, or is gone before them. */
function viewPods({ caches, reports, sessions }: ObserveContext, cluster: Live<ValkeyCluster>, pods: Live<Pod>[]) {
  const zones = new Map(caches.kubernetesNodes.list().map((node) => [node.metadata.name, zoneOf(node)]));
  const { namespace } = cluster.metadata;
  const isForeign = (pod: Live<Pod>): boolean => {
    const controller = controllerOf(pod);
    const set = controller && caches.children.get(controller.kind)?.get({ namespace, name: controller.name });
    if (set && set.metadata.uid === controller?.uid) return !isControlledBy(set, cluster);
    return bornAt(pod) < bornAt(cluster);
  };
  return pods
    .filter((pod) => !isForeign(pod))
    .map((pod) => {
      const { uid } = pod.metadata;
      const report = reports.view(uid, sessions.find(uid) !== undefined);
      return viewPod(pod, { zones, report, reportedIp: reports.addressOf(uid) });
    });
}

function bornAt({ metadata }: KubeObject): number {
  return Date.parse(metadata.creationTimestamp ?? '');
}

function viewCertificates(
  { caches, authorities, now }: ObserveContext,
  { metadata: { namespace, name, uid } }: Live<ValkeyCluster>,
  rotateBeforePercent: number,
): ClusterSnapshot['certificates'] {
  const names = childNames(name);
  const view = (secretName: string) => {
    const secret = caches.secrets.get({ namespace, name: secretName });
    const options = { root: authorities.rootCertificate, rotateBeforePercent, seed: uid, now: new Date(now()) };
    return secret && viewCertificate(secret, options);
  };
  return withoutUndefined({ intermediate: view(names.intermediateSecret), sidecar: view(names.sidecarSecret) });
}

/** Classes are asked only for claims that shall grow, which is rare. */
async function viewClaims(
  client: ObserveContext['client'],
  claims: ClaimView[],
  { pvc }: ClusterSnapshot['spec'],
): Promise<ClaimView[]> {
  const wanted = pvc && parseQuantity(pvc.storageSize);
  const isSmall = ({ storage }: ClaimView) => wanted !== undefined && (parseQuantity(storage) ?? wanted) < wanted;
  const names = new Set(claims.filter(isSmall).flatMap(({ storageClass }) => storageClass ?? []));
  const classes = await Promise.all([...names].map((name) => client.get(storageClasses, { name })));
  const growing = new Set(classes.flatMap((found) => (found?.allowVolumeExpansion ? [found.metadata.name] : [])));
  return claims.map((claim) =>
    isSmall(claim) ? { ...claim, expandable: growing.has(claim.storageClass ?? '') } : claim,
  );
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
      storageClass: spec?.storageClassName,
      resizing: describeResize(status),
      deletionTimestamp: metadata.deletionTimestamp,
    }),
  };
}

function describeResize(status: PersistentVolumeClaim['status']): string | undefined {
  const pending = status?.conditions?.find(
    ({ type, status: value }) => value === 'True' && (type === 'FileSystemResizePending' || type === 'Resizing'),
  );
  return pending && [pending.type, pending.message].filter(Boolean).join(': ');
}

function viewNode(node: Live<Node>): KubernetesNodeView {
  const ready = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  const addressOf = (wanted: string) => node.status?.addresses?.find(({ type }) => type === wanted)?.address;
  const address = addressOf('ExternalIP') ?? addressOf('InternalIP');
  const cordoned = node.spec?.unschedulable;
  return { name: node.metadata.name, ready, ...withoutUndefined({ zone: zoneOf(node), cordoned, address }) };
}

function zoneOf(node: Live<Node>): string | undefined {
  return node.metadata.labels?.[ZONE];
}
