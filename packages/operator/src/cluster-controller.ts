import { labels, reasons, type ValkeyCluster } from '@valkey-operator/api';
import { childNames, type ClusterSnapshot, type Plan, planCluster } from '@valkey-operator/core';
import {
  type EventRecorder,
  formatKey,
  keyOf,
  type KubeObject,
  type Live,
  type ObjectRef,
  parseKey,
  type Requeue,
  type StatusWrite,
  WorkQueue,
  writeStatus,
} from '@valkey-operator/kube';
import { type ActContext, ActionFailed, executePlan } from './act.ts';
import type { Caches } from './caches.ts';
import { observeCluster, type ObserveContext } from './observe.ts';
import { valkeyClusters, valkeyClusterStatuses } from './resources.ts';
import type { SnapshotRecorder } from './snapshot-recorder.ts';

export interface ClusterControllerContext extends ObserveContext, ActContext {
  events: EventRecorder;
  recorder: SnapshotRecorder;
}

const CONCURRENCY = 16;
/** A look that failed is taken again soon; a plan made anew from what is then seen, not a repetition. */
const RETRY_MS = 300;
const STALE_MS = 100;

/** One ValkeyCluster: observe, plan, act, tell. Whatever happens only adds its key to the queue. */
export class ClusterController {
  readonly #context: ClusterControllerContext;
  readonly #queue: WorkQueue;

  constructor(context: ClusterControllerContext) {
    this.#context = context;
    this.#queue = new WorkQueue({
      process: (key) => this.#reconcile(parseKey(key)),
      concurrency: CONCURRENCY,
      onRun: (run) => {
        context.metrics.countRun(run);
        if (run.error !== undefined) context.log.error({ cluster: run.key, err: run.error }, 'reconcile failed');
      },
    });
    context.metrics.observe('valkey_operator_queue_depth', 'Clusters that wait for a worker.', () => this.#queue.depth);
  }

  wake(ref: ObjectRef): void {
    this.#queue.add(formatKey(ref));
  }

  /** Run until the term ends, then let what is under way finish. */
  async run(): Promise<void> {
    const { caches, leadership } = this.#context;
    const unsubscribe = [
      caches.clusters.subscribe(({ object }) => this.#queue.addAnew(keyOf(object))),
      ...childCaches(caches).map((cache) => cache.subscribe(({ object }) => this.#wakeOwner(object))),
      caches.pods.subscribe(({ type, object }) => {
        if (type === 'deleted') this.#context.reports.forget(object.metadata.uid);
      }),
    ];
    for (const cluster of caches.clusters.list()) this.wake(cluster.metadata);
    await new Promise((resolve) => {
      leadership.signal.addEventListener('abort', resolve, { once: true });
      if (leadership.signal.aborted) resolve(undefined);
    });
    for (const stop of unsubscribe) stop();
    await this.#queue.close();
  }

  #wakeOwner({ metadata }: KubeObject): void {
    const name = metadata.labels?.[labels.cr];
    if (name) this.wake({ namespace: metadata.namespace, name });
  }

  async #reconcile(ref: ObjectRef): Promise<Requeue | void> {
    const { caches, sessions, leadership } = this.#context;
    const cluster = caches.clusters.get(ref);
    if (!cluster || cluster.spec.management === 'Unbound') return sessions.want(ref.namespace ?? '', ref.name, []);
    if (!leadership.isValid()) return;
    const snapshot = await observeCluster(this.#context, cluster);
    const plan = planCluster(snapshot);
    this.#connect(snapshot, plan);
    this.#context.recorder.record(snapshot, plan);
    this.#tell(cluster, plan);
    const [written, acted] = await Promise.all([this.#writeStatus(cluster, plan), this.#act(snapshot, plan)]);
    const soon = acted === 'failed' ? RETRY_MS : written === 'stale' ? STALE_MS : undefined;
    return { requeueAfterMs: soon ?? plan.wakeAfterMs };
  }

  #connect({ cluster, pods }: ClusterSnapshot, plan: Plan): void {
    const { namespace, name } = cluster.metadata;
    const sidecars = pods.flatMap(({ name: pod, uid: podUid, ip, phase }) =>
      ip && phase !== 'Succeeded' && phase !== 'Failed' ? [{ namespace, cluster: name, pod, podUid, ip }] : [],
    );
    this.#context.sessions.want(namespace, name, plan.stayConnected ? sidecars : []);
  }

  async #act(snapshot: ClusterSnapshot, plan: Plan): Promise<'done' | 'failed'> {
    try {
      await executePlan(this.#context, snapshot, plan);
      return 'done';
    } catch (error) {
      // What could not be done is logged where it happened; what to do about it is for the next plan to say.
      if (error instanceof ActionFailed) return 'failed';
      throw error;
    }
  }

  async #writeStatus(cluster: Live<ValkeyCluster>, plan: Plan): Promise<StatusWrite> {
    const { client, caches } = this.#context;
    const { namespace, name } = cluster.metadata;
    const detail = caches.details.get({ namespace, name: childNames(name).status });
    const writes = await Promise.all([
      writeStatus(client, valkeyClusters, cluster, plan.status),
      detail ? writeStatus(client, valkeyClusterStatuses, detail, plan.detail) : 'unchanged',
    ]);
    return writes.find((write) => write === 'stale') ?? writes[0];
  }

  #tell(cluster: Live<ValkeyCluster>, plan: Plan): void {
    for (const { reason, message } of plan.events) {
      this.#context.events.record(cluster, { type: reasons[reason].event, reason, message });
    }
  }
}

function childCaches(caches: Caches) {
  const { pods, claims, statefulSets, configMaps, services } = caches;
  const { serviceAccounts, networkPolicies, disruptionBudgets, secrets, details } = caches;
  return [
    pods,
    claims,
    statefulSets,
    configMaps,
    services,
    serviceAccounts,
    networkPolicies,
    disruptionBudgets,
    secrets,
    details,
  ] as { subscribe(handler: (change: { object: KubeObject }) => void): () => void }[];
}
