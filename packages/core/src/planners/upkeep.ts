import { finalizer } from '@valkey-operator/api';
import type { Action, Plan } from '../actions.ts';
import { buildChildren } from '../builders/children.ts';
import { buildSettings, settingsInEffect } from '../builders/settings.ts';
import { type Decision, type PlanView, stagesOf } from '../decision.ts';
import { compareChild, type Drift, type Refused } from '../drift.ts';
import { findStatefulSet, isControlledBy } from '../expectation.ts';
import { isUnproven } from '../roll/image-proof.ts';
import { isBarred } from '../roll/version-step.ts';
import type { ChildObject, ClusterSnapshot } from '../snapshot.ts';
import { keepLoadBalancer, listAnnounced } from './announced-services.ts';
import { findSpentTrial } from './config.ts';
import { findSpentImageTrial } from './image-trial.ts';
import { recoverSettings } from './lost-settings.ts';
import { findBroken } from './roll-failure.ts';

/** What is done around the nodes, and what there is to tell about it. */
export interface Upkeep {
  readonly stages: Plan['stages'];
  /** What was refused before, tried again. It may fail, so it goes last of all. */
  readonly retries: readonly Action[];
  readonly drifts: readonly Drift[];
  readonly refused: readonly Refused[];
}

/** What a cluster needs around its nodes, in the order in which the pods will ask for it. */
export function planUpkeep(view: PlanView, decision: Decision | undefined): Upkeep {
  const { snapshot, topology, roll } = view;
  const { cluster } = snapshot;
  // What is wanted is there at once. When it becomes more is for planGrowth to say, and when nothing depends on a pod any more for
  // planScale.
  const replicas = decision?.pods ?? Math.max(topology.wantedPods, topology.observedPods ?? 0);
  // Until a roll begins, a pod that has to be made anew is made of what the others are made of.
  const template = isUnderWay(view, decision) ? roll.target : roll.good;
  const mayLackOne = isReplacing(view, decision) || isDraining(snapshot);
  const settings = settingsToKeep(view, decision);
  const wanted = buildChildren({ ...snapshot, replicas, settings, template, mayLackOne });
  const children = wanted.filter(({ kind }) => kind !== 'ConfigMap' || settings);
  const issued = planCertificates(snapshot);
  const announced = listAnnounced(snapshot);
  const compared = children
    .map((child) => keepLoadBalancer(withClaimTemplatesOf(child, snapshot), announced, snapshot.children))
    .map((child) => compareChild(child, snapshot));
  const applied = compared.flatMap(({ apply, refused }) => (apply && !refused ? apply : []));
  const isStatefulSet = (action: Action) => action.type === 'ApplyChild' && action.object.kind === 'StatefulSet';
  const stages = stagesOf(
    [
      ...(cluster.metadata.finalizers?.includes(finalizer) ? [] : [{ type: 'AddFinalizer' } as const]),
      ...(issued[0] ?? []),
      ...applied.filter((action) => !isStatefulSet(action)),
      ...findSurplusServices(children, announced, snapshot),
      ...findSpentTrial(view),
      ...findSpentImageTrial(view),
    ],
    issued[1] ?? [],
    applied.filter(isStatefulSet),
  );
  return {
    stages,
    retries: compared.flatMap(({ apply, refused }) => (apply && refused ? apply : [])),
    drifts: compared.flatMap(({ drift }) => drift ?? []),
    refused: compared.flatMap(({ refused }) => refused ?? []),
  };
}

function isUnderWay(view: PlanView, decision: Decision | undefined): boolean {
  const isHelp = findBroken(view).length > 0 && !isBarred(view) && !isUnproven(view);
  return view.roll.begun || decision?.beginRoll === true || isHelp;
}

/** A pod of a roll goes now, or has gone and is not back yet. */
function isReplacing({ snapshot, topology, roll }: PlanView, decision: Decision | undefined): boolean {
  const isGoing = decision?.stages?.flat().some(({ type }) => type === 'DeletePod') ?? false;
  const isRolling = roll.begun && (roll.changes.length > 0 || roll.outdated.length > 0);
  return isGoing || (isRolling && (topology.missing.length > 0 || snapshot.pods.some(({ ready }) => !ready)));
}

/**
 * A pod is on a node that is to become empty (D4). Who evicts it then gets one at a time: none while any pod is not ready, and
 * a replica is ready when it is in sync. A primary hands over before it goes.
 */
function isDraining({ kubernetesNodes, pods }: ClusterSnapshot): boolean {
  const cordoned = new Set(kubernetesNodes.filter((node) => node.cordoned).map(({ name }) => name));
  return pods.some(({ kubernetesNode = '' }) => cordoned.has(kubernetesNode));
}

/** The cluster's own CA, and then what it signs. A paused cluster has them too: without them nothing could be watched. */
export function planCertificates({ certificates, now }: ClusterSnapshot): Action[][] {
  const isDue = (certificate: { readonly renewAt: number } | undefined) => !certificate || certificate.renewAt <= now;
  return [
    isDue(certificates.intermediate) ? [{ type: 'IssueIntermediate' }] : [],
    isDue(certificates.sidecar) ? [{ type: 'IssueSidecarCertificate' }] : [],
  ];
}

/** The next moment at which a certificate has to be renewed. */
export function nextRenewal({ snapshot: { certificates, now } }: PlanView): number | undefined {
  const times = [certificates.intermediate, certificates.sidecar].flatMap((each) => (each ? [each.renewAt - now] : []));
  return times.length > 0 ? Math.max(0, Math.min(...times)) : undefined;
}

/** Services that the spec asked for once, and to which nobody is sent any more. */
function findSurplusServices(
  children: readonly ChildObject[],
  announced: ReturnType<typeof listAnnounced>,
  snapshot: ClusterSnapshot,
): Action[] {
  const wanted = new Set(children.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name));
  const surplus = snapshot.children.filter(
    (child) =>
      child.kind === 'Service' &&
      !wanted.has(child.metadata.name) &&
      !child.metadata.deletionTimestamp &&
      !announced.has(child.metadata.name) &&
      isControlledBy(child, snapshot.cluster.metadata.uid),
  );
  return surplus.flatMap(({ apiVersion, kind, metadata: { name, uid } }) =>
    uid === undefined ? [] : [{ type: 'DeleteChild', apiVersion, kind, name, uid } as const],
  );
}

/** Until the cluster is formed, what the spec asks for is what the nodes start with; then only what they have accepted. */
function settingsToKeep(view: PlanView, decision: Decision | undefined) {
  if (!view.topology.formed) return buildSettings(view.snapshot.spec);
  return decision?.settings ?? settingsInEffect(view.snapshot) ?? recoverSettings(view);
}

/** They cannot be changed once they exist, and a write that tries is refused as a whole. */
function withClaimTemplatesOf(wanted: ChildObject, snapshot: ClusterSnapshot): ChildObject {
  const observed = findStatefulSet(snapshot);
  if (observed === undefined || wanted.kind !== 'StatefulSet') return wanted;
  const { volumeClaimTemplates: _, ...spec } = wanted['spec'] as Record<string, unknown>;
  const kept = (observed['spec'] as Record<string, unknown> | undefined)?.['volumeClaimTemplates'];
  return { ...wanted, spec: { ...spec, ...(kept === undefined ? {} : { volumeClaimTemplates: kept }) } };
}
