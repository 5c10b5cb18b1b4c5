import { reasons, type ValkeyCluster, type ValkeyClusterStatus } from '@valkey-operator/api';
import { childNames, type ClusterSnapshot, type Plan, type planCluster } from '@valkey-operator/core';
import {
  type EventRecorder,
  formatKey,
  keyOf,
  type KubeClient,
  type KubeObject,
  type Live,
  type ObjectRef,
  parseKey,
  type Requeue,
  type Resource,
  type RunRecord,
  WorkQueue,
  writeStatus,
} from '@valkey-operator/kube';
import type { Caches } from '../caches.ts';
import type { Metrics } from '../metrics.ts';
import { valkeyClusters, valkeyClusterStatuses, valkeyUpgrades } from '../resources.ts';
import { tellOrphans } from '../upgrade/orphans.ts';
import type { Tracing } from '../tracing/orchestration-tracer.ts';
import type { Sessions } from '../wire/sessions.ts';
import { type ActContext, ActionFailed, executePlan } from './act.ts';
import { namePoint } from './crash-points.ts';
import type { ForesightBook } from './foresight-book.ts';
import { observeCluster, type ObserveContext } from './observe.ts';
import { hasSidecar } from './pod-view.ts';
import type { RefusalBook } from './refusal-book.ts';
import type { RepairBook } from './repair-book.ts';
import type { SnapshotRecorder } from './snapshot-recorder.ts';
import { createDetailPace, createSummaryPace } from './status-pace.ts';
import { ToldEvents } from './told-events.ts';
import { subscribeWakeUps } from './wake-ups.ts';
import { whenSeen } from './when-seen.ts';

export interface ClusterControllerContext extends ObserveContext, ActContext {
  client: KubeClient;
  caches: Caches;
  sessions: Pick<Sessions, 'find' | 'want' | 'whenOpen'>;
  authorities: ObserveContext['authorities'] & ActContext['authorities'];
  plan: typeof planCluster;
  foresight: Pick<ForesightBook, 'forget'>;
  events: Pick<EventRecorder, 'record'>;
  recorder: SnapshotRecorder;
  repairs: RepairBook;
  refusals: RefusalBook;
  metrics: Pick<Metrics, 'actions' | 'countEnded' | 'countRun' | 'driftRepairs'>;
  tracing: Tracing;
}

const CONCURRENCY = 16;
/**
 * After a failure the cluster is looked at anew, soon and then less often. The limit is low: what failed may be a trifle,
 * and meanwhile something else may need repair.
 */
const BACKOFF = { baseMs: 200, maxMs: 10_000 };
/** A status that came too late is written from what the watch is about to bring. */
const STALE_MS = 100;

/** One ValkeyCluster: observe, plan, act, tell. Whatever happens only adds its key to the queue. */
export class ClusterController {
  readonly #context: ClusterControllerContext;
  readonly #queue: WorkQueue;
  readonly #told = new ToldEvents();
  readonly #summaryPace = createSummaryPace();
  readonly #detailPace = createDetailPace();
  /** By cluster: what of its last plan failed, for the next one to know. */
  readonly #failures = new Map<string, readonly string[]>();

  constructor(context: ClusterControllerContext) {
    this.#context = context;
    this.#queue = new WorkQueue({
      process: (key) => this.#reconcile(parseKey(key)),
      concurrency: CONCURRENCY,
      backoff: BACKOFF,
      onRun: (run) => this.#account(run),
    });
  }

  /** Clusters that wait for a worker. */
  get depth(): number {
    return this.#queue.depth;
  }

  wake(ref: ObjectRef): void {
    this.#queue.add(formatKey(ref));
  }

  /** Something happened that may end a row of failures. */
  wakeAnew(ref: ObjectRef): void {
    this.#queue.addAnew(formatKey(ref));
  }

  /** Run until the term ends, then let what is under way finish. */
  async run(): Promise<void> {
    const { caches, leadership, operator } = this.#context;
    const unsubscribe = subscribeWakeUps(
      caches,
      (ref) => this.wake(ref),
      (ref) => this.wakeAnew(ref),
      operator.namespace,
    );
    for (const cluster of caches.clusters.list()) this.wake(cluster.metadata);
    for (const { metadata, spec } of caches.upgrades.list()) this.wake({ ...metadata, name: spec.clusterRef.name });
    await new Promise((resolve) => {
      leadership.signal.addEventListener('abort', resolve, { once: true });
      if (leadership.signal.aborted) resolve(undefined);
    });
    unsubscribe();
    await this.#queue.close();
  }

  async #reconcile(ref: ObjectRef): Promise<Requeue | void> {
    const { caches, leadership, plan: decide, recorder } = this.#context;
    const cluster = caches.clusters.get(ref);
    if (!leadership.isValid()) return;
    if (!cluster || cluster.spec.management === 'Unbound') {
      this.#letGo(ref);
      return tellOrphans(this.#context, ref);
    }
    this.#forgetGonePods(cluster);
    const snapshot = await this.#observe(cluster);
    const plan = decide(snapshot);
    recorder.record(snapshot, plan);
    this.#connect(snapshot, plan);
    this.#tell(cluster, plan);
    const [againMs, acted] = await settleBoth(this.#writeStatus(cluster, plan), this.#act(snapshot, plan));
    if (acted === 'outdated') return { requeueAfterMs: 0 };
    return {
      requeueAfterMs: againMs === undefined ? plan.wakeAfterMs : Math.min(againMs, plan.wakeAfterMs ?? againMs),
    };
  }

  /** Gone, or not ours to look after: no connection and no memory of it is kept. */
  #letGo({ namespace = '', name }: ObjectRef): void {
    const { sessions, reports } = this.#context;
    sessions.want(namespace, name, []);
    reports.retain(namespace, name, new Set());
    this.#told.selectNew(formatKey({ namespace, name }), []);
    this.#summaryPace.forget(formatKey({ namespace, name }));
    this.#detailPace.forget(formatKey({ namespace, name }));
    this.#failures.delete(formatKey({ namespace, name }));
    this.#context.foresight.forget(formatKey({ namespace, name }));
    this.#context.repairs.forget(formatKey({ namespace, name }));
    this.#context.refusals.forget(formatKey({ namespace, name }));
    this.#context.tracing.forget({ namespace, name });
  }

  #forgetGonePods({ metadata: { namespace, name } }: Live<ValkeyCluster>): void {
    const { caches, reports } = this.#context;
    const present = caches.pods.byIndex('cluster', name).filter(({ metadata }) => metadata.namespace === namespace);
    reports.retain(namespace, name, new Set(present.map(({ metadata }) => metadata.uid)));
  }

  #connect({ cluster, pods }: ClusterSnapshot, plan: Plan): void {
    const { caches, sessions } = this.#context;
    const { namespace, name } = cluster.metadata;
    const sidecars = pods.flatMap(({ name: pod, uid: podUid, ip, report }) => {
      const live = caches.pods.get({ namespace, name: pod });
      const isReachable = ip && live && hasSidecar(live, report !== undefined);
      return isReachable ? [{ namespace, cluster: name, pod, podUid, ip }] : [];
    });
    sessions.want(namespace, name, plan.stayConnected ? sidecars : []);
  }

  async #observe(cluster: Live<ValkeyCluster>): Promise<ClusterSnapshot> {
    const failures = this.#failures.get(keyOf(cluster));
    const snapshot = await observeCluster(this.#context, cluster);
    return failures ? { ...snapshot, failures } : snapshot;
  }

  async #act(snapshot: ClusterSnapshot, plan: Plan): Promise<'done' | 'outdated'> {
    const { uid, generation, deletionTimestamp } = snapshot.cluster.metadata;
    const key = formatKey(snapshot.cluster.metadata);
    const isCurrent = () => {
      const now = this.#context.caches.clusters.get(snapshot.cluster.metadata)?.metadata;
      return now?.uid === uid && now.generation === generation && now.deletionTimestamp === deletionTimestamp;
    };
    this.#failures.delete(key);
    try {
      return await executePlan(this.#context, snapshot, plan, isCurrent);
    } catch (error) {
      if (error instanceof ActionFailed) this.#failures.set(key, [error.message]);
      throw error;
    }
  }

  /** When to come back for what could not be written, or not yet. */
  async #writeStatus(cluster: Live<ValkeyCluster>, plan: Plan): Promise<number | undefined> {
    const { client, caches, checkpoint, now } = this.#context;
    const write = async <T extends KubeObject & { status?: unknown }>(
      resource: Resource<T>,
      object: Live<T>,
      status: NonNullable<T['status']>,
      cache: Parameters<typeof whenSeen>[0],
    ) => {
      const point = namePoint(plan, `WriteStatus ${resource.kind}`);
      const outcome = await writeStatus(client, resource, object, status, {
        beforeWrite: () => checkpoint('before', point, cluster),
        // The next plan starts from what this one has written.
        whenWritten: (written) => whenSeen(cache, written),
      });
      if (outcome === 'written') checkpoint('after', point, cluster);
      return outcome;
    };
    const { namespace, name } = cluster.metadata;
    const detail = caches.details.get({ namespace, name: childNames(name).status });
    const isAtRest = !plan.stayConnected;
    const key = keyOf(cluster);
    const summaryHoldMs = this.#summaryPace.holdMs(key, cluster.status, plan.status, isAtRest, now());
    const detailHoldMs = detail ? this.#detailPace.holdMs(key, detail.status, plan.detail, isAtRest, now()) : 0;
    const upgrades = (plan.upgrades ?? []).map(({ name: upgrade, status }) => {
      const object = caches.upgrades.get({ namespace, name: upgrade });
      return object && write(valkeyUpgrades, object, status, caches.upgrades);
    });
    const [summaryWrite, detailWrite, ...upgradeWrites] = await Promise.all([
      summaryHoldMs === 0 && write(valkeyClusters, cluster, plan.status, caches.clusters),
      detail && detailHoldMs === 0 && write(valkeyClusterStatuses, detail, plan.detail, caches.details),
      ...upgrades,
    ]);
    // Only now that it is written: another look would count it again.
    if (detailWrite === 'written') this.#noteSteps(cluster, detail?.status, plan);
    if (summaryWrite === 'written') this.#noteEnded(cluster, plan);
    if ([summaryWrite, detailWrite, ...upgradeWrites].includes('stale')) return STALE_MS;
    const holds = [summaryHoldMs, detailHoldMs].filter((ms) => ms > 0);
    return holds.length > 0 ? Math.min(...holds) : undefined;
  }

  #noteSteps(cluster: Live<ValkeyCluster>, before: ValkeyClusterStatus['status'], { detail }: Plan): void {
    this.#context.tracing.noteSteps(cluster, before?.orchestrationLog ?? [], detail.orchestrationLog ?? []);
  }

  #noteEnded(cluster: Live<ValkeyCluster>, plan: Plan): void {
    for (const ended of plan.ended ?? []) {
      this.#context.metrics.countEnded(ended);
      this.#context.tracing.noteEnded(cluster, ended);
    }
  }

  #tell(cluster: Live<ValkeyCluster>, plan: Plan): void {
    for (const { reason, message } of this.#told.selectNew(keyOf(cluster), plan.events)) {
      this.#context.events.record(cluster, { type: reasons[reason].event, reason, message });
    }
  }

  #account(run: RunRecord): void {
    const { metrics, log } = this.#context;
    metrics.countRun(run);
    // An action that failed has been logged where that happened.
    if (run.error === undefined || run.error instanceof ActionFailed) return;
    log.error({ cluster: run.key, failures: run.failures, err: run.error }, 'reconcile failed');
  }
}

/** Both run to their end even if one fails, so that nothing of this run goes on behind the back of the next. */
async function settleBoth<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}
