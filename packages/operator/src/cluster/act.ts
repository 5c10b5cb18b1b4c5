import { finalizer, type ValkeyCluster } from '@valkey-operator/api';
import type { Action, ChildObject, ClusterSnapshot, NodeAction, Plan } from '@valkey-operator/core';
import {
  isKubeError,
  type KubeClient,
  type KubeObject,
  type Leadership,
  persistentVolumeClaims,
  pods,
} from '@valkey-operator/kube';
import { RefusalReason } from '@valkey-operator/rpc';
import type { Caches } from '../caches.ts';
import type { Authorities } from '../certificates/authorities.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { childResource, valkeyClusters } from '../resources.ts';
import type { ActionTrail, Tracing } from '../tracing/orchestration-tracer.ts';
import { toCommandRequest } from '../wire/node-command.ts';
import type { Sessions } from '../wire/sessions.ts';
import { type Checkpoint, namePoint } from './crash-points.ts';
import { CommandHeld, type CommandPace } from './command-pace.ts';
import { describeAction, describeOutcome } from './describe-action.ts';
import { whenSeen, whenShown } from './when-seen.ts';
import type { RefusalBook } from './refusal-book.ts';
import type { RepairBook } from './repair-book.ts';
import { resizePod } from './resize-pod.ts';

export interface ActContext {
  /** Writes only while the term is valid. */
  client: KubeClient;
  caches: Pick<Caches, 'children' | 'clusters' | 'pods' | 'secrets'>;
  sessions: Pick<Sessions, 'whenOpen'>;
  pace: CommandPace;
  authorities: Pick<Authorities, 'issueIntermediate' | 'issueSidecarCertificate'>;
  leadership: Leadership;
  onStale: (highestEpoch: bigint, sidecar: { namespace: string; cluster: string; pod: string }) => void;
  repairs: Pick<RepairBook, 'note'>;
  refusals: Pick<RefusalBook, 'note' | 'clear'>;
  metrics: Pick<Metrics, 'actions' | 'driftRepairs'>;
  checkpoint: Checkpoint;
  tracing: Pick<Tracing, 'begin'>;
  log: Logger;
}

/** What an action belongs to, for logs and traces on both sides of the wire. */
interface Errand {
  orchestration: string | undefined;
  trail: ActionTrail;
}

/** An action that did not come about. The next look at the cluster decides anew; nothing is repeated blindly. */
export class ActionFailed extends Error {
  override readonly name = 'ActionFailed';
}

/**
 * Carry out a plan: all of a stage at once, the next stage only when all of it succeeded. `outdated`: what the plan was made
 * for has changed meanwhile, so the rest of it was left.
 */
export async function executePlan(
  context: ActContext,
  snapshot: ClusterSnapshot,
  plan: Plan,
  isCurrent: () => boolean,
): Promise<'done' | 'outdated'> {
  for (const [index, stage] of plan.stages.entries()) {
    if (index > 0 && !isCurrent()) return 'outdated';
    const outcomes = await Promise.allSettled(stage.map((action) => execute(context, snapshot, plan, action)));
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
    if (failures.length > 0) throw new ActionFailed(failures.join('; '));
  }
  return 'done';
}

async function execute(context: ActContext, snapshot: ClusterSnapshot, plan: Plan, action: Action): Promise<void> {
  const { leadership, metrics, checkpoint, tracing, log } = context;
  const point = namePoint(plan, action);
  const orchestration = plan.status.orchestration?.id;
  const { namespace, name } = snapshot.cluster.metadata;
  const reason = 'reason' in action ? action.reason : undefined;
  const fields = { cluster: `${namespace}/${name}`, orchestration, point, action: describeAction(action), reason };
  const trail = tracing.begin(snapshot.cluster, plan, action);
  try {
    if (!leadership.isValid()) throw new ActionFailed('this process does not lead any more');
    checkpoint('before', point, snapshot.cluster);
    await perform(context, snapshot, action, { orchestration, trail });
    checkpoint('after', point, snapshot.cluster);
    trail.ended();
    metrics.actions.inc({ action: action.type, outcome: 'done' });
    noteRepair(context, `${namespace}/${name}`, action);
    log.info(fields, 'action done');
  } catch (error) {
    trail.ended(String(error));
    metrics.actions.inc({ action: action.type, outcome: 'failed' });
    log[error instanceof CommandHeld ? 'debug' : 'warn']({ ...fields, error: String(error) }, 'action failed');
    throw error;
  }
}

/** What somebody else had changed has been put back. */
function noteRepair({ repairs, metrics }: ActContext, cluster: string, action: Action): void {
  if (action.type === 'ApplyChild' && action.drift) {
    const { kind, metadata } = action.object;
    repairs.note(cluster, `${kind} ${metadata.name}`);
    metrics.driftRepairs.inc({ kind });
  } else if (action.type === 'CommandNode' && action.reason === 'DriftRepaired') {
    metrics.driftRepairs.inc({ kind: 'Valkey' });
  }
}

async function perform(
  context: ActContext,
  { cluster, spec }: ClusterSnapshot,
  action: Action,
  errand: Errand,
): Promise<void> {
  const { client, caches, authorities } = context;
  const { namespace } = cluster.metadata;
  const owner = { metadata: cluster.metadata, spec };
  switch (action.type) {
    case 'ApplyChild':
      return applyChild(context, cluster, action.object);
    case 'DeleteChild':
      await client.delete(childResource(action.kind), { namespace, name: action.name }, { uid: action.uid });
      return;
    case 'DeletePod':
      await client.delete(pods, { namespace, name: action.pod }, { uid: action.uid });
      return;
    case 'DeleteClaim':
      await client.delete(persistentVolumeClaims, { namespace, name: action.claim }, { uid: action.uid });
      return;
    case 'GrowClaim':
      return growClaim(client, namespace, action);
    case 'ResizePod':
      return resizePod(client, namespace, action);
    case 'LabelPod':
      return labelPod(client, namespace, action);
    case 'AddFinalizer':
    case 'RemoveFinalizer':
      return setFinalizer(context, cluster, action.type === 'AddFinalizer');
    case 'IssueIntermediate':
      return whenSeen(caches.secrets, await authorities.issueIntermediate(client, owner));
    case 'IssueSidecarCertificate':
      return whenSeen(caches.secrets, await authorities.issueSidecarCertificate(client, owner));
    case 'CommandNode':
      return commandNode(context, action, cluster, errand);
  }
}

/** What it is refused for will not change by itself; the plan has to know, or it would wait for this child for ever. */
async function applyChild(
  { client, caches, refusals }: ActContext,
  { metadata: { namespace, name } }: ValkeyCluster,
  object: ChildObject,
): Promise<void> {
  const cluster = `${namespace}/${name}`;
  const written = await client
    .apply<KubeObject>(childResource(object.kind), object as KubeObject)
    .catch((error: unknown) => {
      if (isKubeError(error) && error.remedy === 'stop') refusals.note(cluster, object, error.message);
      throw error;
    });
  refusals.clear(cluster, object);
  const cache = object.kind === pods.kind ? caches.pods : caches.children.get(object.kind);
  if (cache) await whenSeen(cache, written);
}

async function growClaim(
  client: KubeClient,
  namespace: string,
  { claim, uid, storage }: Extract<Action, { type: 'GrowClaim' }>,
): Promise<void> {
  const change = { metadata: { uid }, spec: { resources: { requests: { storage } } } };
  await client.mergePatch(persistentVolumeClaims, { namespace, name: claim }, change);
}

async function labelPod(
  client: KubeClient,
  namespace: string,
  { pod, uid, labels, annotations }: Extract<Action, { type: 'LabelPod' }>,
): Promise<void> {
  try {
    await client.mergePatch(pods, { namespace, name: pod }, { metadata: { uid, labels, annotations } });
  } catch (error) {
    // Another pod of that name is not the one that was meant; a label is not worth more than that.
    if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
  }
}

/** Only if the list is still what it was, for it is replaced as a whole. A new status does not matter, a new version does not tell. */
async function setFinalizer({ client, caches }: ActContext, cluster: ValkeyCluster, wanted: boolean): Promise<void> {
  const { namespace, name, uid, finalizers: present } = cluster.metadata;
  const others = present?.filter((entry) => entry !== finalizer) ?? [];
  await client.jsonPatch(valkeyClusters, { namespace, name }, [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/metadata/finalizers', value: present ?? null },
    { op: 'add', path: '/metadata/finalizers', value: wanted ? [...others, finalizer] : others },
  ]);
  // Without its last finalizer it is gone.
  const isSet = (seen: ValkeyCluster | undefined) => !seen || seen.metadata.finalizers?.includes(finalizer) === wanted;
  await whenShown(caches.clusters, { namespace, name }, isSet);
}

/** The pod is named by its uid: a session to its successor of the same name is not meant. */
async function commandNode(
  context: ActContext,
  action: NodeAction,
  { metadata }: ValkeyCluster,
  { orchestration, trail }: Errand,
): Promise<void> {
  const { sessions, pace } = context;
  pace.check(action);
  const session = await sessions.whenOpen(action.guard.podUid);
  if (!session) throw new ActionFailed(`no session to ${action.pod}`);
  const result = await session.send({ ...toCommandRequest(action), ...(orchestration && { orchestration }) });
  trail.answered(result);
  const { outcome } = result;
  if (outcome.case === 'done') return pace.forget(action);
  pace.slowDown(action);
  if (outcome.case === 'refusal' && outcome.value.reason === RefusalReason.STALE_EPOCH) {
    const { namespace, name: cluster } = metadata;
    context.onStale(outcome.value.highestEpoch, { namespace, cluster, pod: action.pod });
  }
  throw new ActionFailed(`${action.pod} ${describeOutcome(outcome)}`);
}
