import { isDeepStrictEqual } from 'node:util';
import { annotations, labels, type ValkeyCluster } from '@valkey-operator/api';
import type { Change, KubeObject, Live, Node, ObjectRef, ResourceCache } from '@valkey-operator/kube';
import type { Caches } from '../caches.ts';

type WakeUp = (cluster: ObjectRef) => void;
type Subscribable = Pick<ResourceCache<KubeObject>, 'subscribe'>;

/**
 * What has to lead to a look at a cluster: its own changes, those of its children, of the defaults it follows, and of the
 * Kubernetes nodes its pods are on. `changed` is for what people changed, which may end a row of failures.
 */
export function subscribeWakeUps(caches: Caches, wake: WakeUp, changed: WakeUp, operatorNamespace: string): () => void {
  const children = [caches.pods, caches.claims, caches.secrets, ...caches.children.values()] as Subscribable[];
  const unsubscribe = [
    caches.clusters.subscribe((change) => (isStatusOnly(change) ? wake : changed)(change.object.metadata)),
    caches.upgrades.subscribe(({ object: { metadata, spec } }) => wake({ ...metadata, name: spec.clusterRef.name })),
    ...children.map((cache) => cache.subscribe(({ object }) => wakeOwner(object, wake))),
    caches.defaults.subscribe(({ object: { metadata } }) => {
      const followers = caches.clusters.list(metadata.namespace === operatorNamespace ? undefined : metadata.namespace);
      for (const cluster of followers) changed(cluster.metadata);
    }),
    caches.kubernetesNodes.subscribe((change) => {
      if (!isNotable(change)) return;
      const isHere = (nodeName: string | undefined): boolean => nodeName === change.object.metadata.name;
      for (const pod of caches.pods.list()) if (isHere(pod.spec?.nodeName)) wakeOwner(pod, wake);
    }),
  ];
  return () => {
    for (const stop of unsubscribe) stop();
  };
}

/** Of a pod that is no node of its cluster only the annotation says whose it is. */
function wakeOwner({ metadata }: KubeObject, wake: WakeUp): void {
  const name = metadata.annotations?.[annotations.cr] ?? metadata.labels?.[labels.cr];
  if (name) wake({ namespace: metadata.namespace, name });
}

/** Mostly this operator's own writing: that a failure was told must not be a reason to try again at once. */
function isStatusOnly(change: Change<ValkeyCluster & KubeObject>): boolean {
  if (change.type !== 'modified') return false;
  const said = ({ metadata }: ValkeyCluster) => [metadata.generation, metadata.annotations, metadata.deletionTimestamp];
  return isDeepStrictEqual(said(change.object), said(change.previous));
}

/** Kubelets report every few seconds; what matters is whether a node came, went, became ready or not, or was cordoned. */
function isNotable(change: Change<Node>): boolean {
  return change.type !== 'modified' || usability(change.object) !== usability(change.previous);
}

function usability({ spec, status }: Live<Node>): string {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  return `${ready} ${spec?.unschedulable ?? false}`;
}
