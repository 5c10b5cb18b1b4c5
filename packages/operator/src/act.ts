import { finalizer, type ValkeyCluster } from '@valkey-operator/api';
import type { Action, ClusterSnapshot, NodeAction, Plan } from '@valkey-operator/core';
import {
  isKubeError,
  type KubeClient,
  type KubeObject,
  type Leadership,
  persistentVolumeClaims,
  pods,
} from '@valkey-operator/kube';
import type { CommandResult } from '@valkey-operator/rpc';
import type { Authorities } from './authorities.ts';
import { childResource } from './child-resources.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';
import { toCommandRequest } from './node-command.ts';
import { valkeyClusters } from './resources.ts';
import type { Sessions } from './sessions.ts';

export interface ActContext {
  client: KubeClient;
  sessions: Sessions;
  authorities: Authorities;
  leadership: Leadership;
  metrics: Metrics;
  log: Logger;
}

/** An action that did not come about. The next look at the cluster decides anew; nothing is repeated blindly. */
export class ActionFailed extends Error {
  override readonly name = 'ActionFailed';
}

/** Carry out a plan: all of a stage at once, the next stage only when all of it succeeded. */
export async function executePlan(context: ActContext, snapshot: ClusterSnapshot, plan: Plan): Promise<void> {
  for (const stage of plan.stages) {
    // Asked before every stage, for a stage can take long enough to lose the lease in it.
    if (!context.leadership.isValid()) throw new ActionFailed('this process is not the leader any more');
    const outcomes = await Promise.allSettled(stage.map((action) => execute(context, snapshot, action)));
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
    if (failures.length > 0) throw new ActionFailed(failures.join('; '));
  }
}

async function execute(context: ActContext, snapshot: ClusterSnapshot, action: Action): Promise<void> {
  const { metrics, log } = context;
  const fields = { cluster: keyOfCluster(snapshot.cluster), action: describe(action) };
  try {
    await perform(context, snapshot, action);
    metrics.actions.inc({ action: action.type, outcome: 'done' });
    log.info(fields, 'action done');
  } catch (error) {
    metrics.actions.inc({ action: action.type, outcome: 'failed' });
    log.warn({ ...fields, error: String(error) }, 'action failed');
    throw error;
  }
}

async function perform(
  context: ActContext,
  { cluster, spec, pods: views }: ClusterSnapshot,
  action: Action,
): Promise<void> {
  const { client, authorities } = context;
  const { namespace } = cluster.metadata;
  switch (action.type) {
    case 'ApplyChild':
      await client.apply<KubeObject>(childResource(action.object.kind), action.object as KubeObject);
      return;
    case 'DeleteChild':
      await client.delete(childResource(action.kind), { namespace, name: action.name }, { uid: action.uid });
      return;
    case 'DeletePod':
      await client.delete(pods, { namespace, name: action.pod }, { uid: action.uid });
      return;
    case 'DeleteClaim':
      await client.delete(persistentVolumeClaims, { namespace, name: action.claim }, { uid: action.uid });
      return;
    case 'LabelPod':
      await labelPod(client, namespace, action.pod, action.uid, action.labels);
      return;
    case 'AddFinalizer':
    case 'RemoveFinalizer':
      await setFinalizer(client, cluster, action.type === 'AddFinalizer');
      return;
    case 'IssueIntermediate':
      await authorities.issueIntermediate(cluster);
      return;
    case 'IssueSidecarCertificate':
      await authorities.issueSidecarCertificate(cluster, spec.operatorMtls.clientCertValidity);
      return;
    case 'CommandNode': {
      const pod = views.find(({ name }) => name === action.pod);
      await commandNode(context, action, pod?.uid ?? '');
    }
  }
}

async function labelPod(
  client: KubeClient,
  namespace: string,
  name: string,
  uid: string,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  try {
    await client.mergePatch(pods, { namespace, name }, { metadata: { uid, labels } });
  } catch (error) {
    // Another pod of that name is not the one that was meant; a label is not worth more than that.
    if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
  }
}

async function setFinalizer(client: KubeClient, cluster: ValkeyCluster, wanted: boolean): Promise<void> {
  const { namespace, name, resourceVersion, finalizers: present = [] } = cluster.metadata;
  const others = present.filter((entry) => entry !== finalizer);
  const finalizers = wanted ? [...others, finalizer] : others;
  await client.mergePatch(valkeyClusters, { namespace, name }, { metadata: { resourceVersion, finalizers } });
}

async function commandNode({ sessions }: ActContext, action: NodeAction, podUid: string): Promise<void> {
  const session = sessions.find(podUid);
  if (!session) throw new ActionFailed(`no session to ${action.pod}`);
  const result = await session.send(toCommandRequest(action));
  if (result.outcome.case !== 'done') throw new ActionFailed(`${action.pod} ${describeOutcome(result)}`);
}

function describeOutcome({ outcome }: CommandResult): string {
  if (outcome.case === 'refusal') {
    const { message, guard } = outcome.value;
    const fact = guard ? ` (${guard.fact}: expected ${guard.expected}, is ${guard.actual})` : '';
    return `refused: ${message}${fact}`;
  }
  return outcome.case === 'failure' ? `failed: ${outcome.value.message}` : 'gave an answer that is not known here';
}

function describe(action: Action): string {
  switch (action.type) {
    case 'ApplyChild':
      return `apply ${action.object.kind} ${action.object.metadata.name}${action.drift ? ` (${action.drift})` : ''}`;
    case 'DeleteChild':
      return `delete ${action.kind} ${action.name}`;
    case 'CommandNode':
      return `${action.command.do} on ${action.pod}`;
    case 'DeletePod':
    case 'LabelPod':
      return `${action.type} ${action.pod}`;
    case 'DeleteClaim':
      return `${action.type} ${action.claim}`;
    default:
      return action.type;
  }
}

function keyOfCluster({ metadata }: ValkeyCluster): string {
  return `${metadata.namespace}/${metadata.name}`;
}
