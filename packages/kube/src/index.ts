/**
 * The only package that talks to the Kubernetes API. A tour: `loadAccess` finds the cluster and who we are there,
 * `createHttpTransport` carries requests, `KubeClient` has the verbs. `ResourceCache` keeps a kind in memory and tells of
 * changes; handlers add keys to a `WorkQueue`, whose runs read the cache again. `LeaderElection` says whether this process
 * may act, `EventRecorder` and `writeStatus` say what it did.
 */
export { asBearer, type ClusterAccess, type Credentials } from './access.ts';
export type { CallOptions, CallRecord } from './api-call.ts';
export { backoffMs, type BackoffLimits, type Random } from './backoff.ts';
export type {
  ApplyOptions,
  DeleteOptions,
  JsonPatchOperation,
  KubeClientOptions,
  ListOptions,
  SubresourceOptions,
  WatchOptions,
} from './client-options.ts';
export { FIELD_MANAGER, KubeClient } from './client.ts';
export { type Clock, sleep, systemClock } from './clock.ts';
export { type Condition, findCondition, setCondition } from './conditions.ts';
export { isKubeError, KubeError, type KubeErrorCode, type Remedy, type StatusCause } from './error.ts';
export { type EventNote, EventRecorder, type EventRecorderOptions } from './event-recorder.ts';
export { evictPod, type Eviction } from './evict.ts';
export { createHttpTransport } from './http-transport.ts';
export { inClusterAccess, isInCluster } from './in-cluster.ts';
export { byController, byLabel } from './indexers.ts';
export { kubeconfigAccess, loadAccess } from './kubeconfig.ts';
export type { Leadership } from './leadership.ts';
export { LeaderElection, type LeaderElectionOptions, type LeaseTimes } from './lease.ts';
export { formatMicroTime, formatTime } from './micro-time.ts';
export {
  dropManagedFields,
  formatKey,
  keyOf,
  type KubeList,
  type KubeObject,
  type Live,
  type ObjectMeta,
  type ObjectRef,
  type OwnerReference,
  parseKey,
} from './object.ts';
export { controllerOf, isControlledBy, ownerReferenceTo } from './owner.ts';
export { type ChangeHandler, ResourceCache, type ResourceCacheOptions } from './resource-cache.ts';
export { apiVersionOf, defineResource, type Resource } from './resource.ts';
export * from './resources.ts';
export { reviewAccess, reviewToken } from './reviews.ts';
export { type StatusWrite, writeStatus } from './status-writer.ts';
export type { Change, Indexer } from './store.ts';
export type { Transport, TransportRequest, TransportResponse } from './transport.ts';
export type { WatchEvent } from './watch-event.ts';
export { type Requeue, type RunRecord, WorkQueue, type WorkQueueOptions } from './work-queue.ts';
