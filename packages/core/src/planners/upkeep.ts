import { finalizer } from '@valkey-operator/api';
import type { Action } from '../actions.ts';
import { buildChildren } from '../builders/children.ts';
import { type PlanView, stagesOf } from '../decision.ts';
import { findDifferences } from '../differences.ts';
import { findStatefulSet } from '../expectation.ts';
import type { ChildObject } from '../snapshot.ts';

/** What a cluster needs around its nodes, in the order in which the pods will ask for it. */
export function planUpkeep({ snapshot, topology }: PlanView) {
  const { cluster, certificates, now } = snapshot;
  const { observedPods, wantedPods } = topology;
  // Pods are added at once, but only let go when nothing depends on them any more: that is for planScaleIn to say.
  const replicas = Math.max(wantedPods, observedPods ?? 0);
  const children = buildChildren({ ...snapshot, replicas });
  const isDue = (certificate: { readonly renewAt: number } | undefined) => !certificate || certificate.renewAt <= now;
  const applied = children.flatMap((child) => applyIfDifferent(child, snapshot));
  const isStatefulSet = (action: Action) => action.type === 'ApplyChild' && action.object.kind === 'StatefulSet';
  const stages = stagesOf(
    [
      ...(cluster.metadata.finalizers?.includes(finalizer) ? [] : [{ type: 'AddFinalizer' } as const]),
      ...(isDue(certificates.intermediate) ? [{ type: 'IssueIntermediate' } as const] : []),
      ...applied.filter((action) => !isStatefulSet(action)),
    ],
    isDue(certificates.sidecar) ? [{ type: 'IssueSidecarCertificate' }] : [],
    applied.filter(isStatefulSet),
  );
  const drifts = applied.flatMap(({ object, drift }) =>
    drift ? [`${object.kind} ${object.metadata.name}: ${drift}`] : [],
  );
  return { stages, drifts };
}

/** The next moment at which a certificate has to be renewed. */
export function nextRenewal({ snapshot: { certificates, now } }: PlanView): number | undefined {
  const times = [certificates.intermediate, certificates.sidecar].flatMap((each) => (each ? [each.renewAt - now] : []));
  return times.length > 0 ? Math.max(0, Math.min(...times)) : undefined;
}

function applyIfDifferent(wanted: ChildObject, snapshot: PlanView['snapshot']) {
  const { cluster, children } = snapshot;
  const observed = children.find(
    ({ kind, metadata }) => kind === wanted.kind && metadata.name === wanted.metadata.name,
  );
  const object = wanted.kind === 'StatefulSet' ? withClaimTemplatesOf(wanted, findStatefulSet(snapshot)) : wanted;
  if (observed === undefined) return [{ type: 'ApplyChild', object } as const];
  const differences = findDifferences(object, observed);
  if (differences.length === 0) return [];
  // Differences that the spec does not explain, because this generation of it had been put into effect before, are foreign.
  const isDrift = cluster.status?.observedGeneration === cluster.metadata.generation;
  return [{ type: 'ApplyChild', object, ...(isDrift && { drift: differences.join(', ') }) } as const];
}

/** They cannot be changed once they exist, and a write that tries is refused as a whole. */
export function withClaimTemplatesOf(wanted: ChildObject, observed: ChildObject | undefined): ChildObject {
  if (observed === undefined) return wanted;
  const { volumeClaimTemplates: _, ...spec } = wanted['spec'] as Record<string, unknown>;
  const kept = (observed['spec'] as Record<string, unknown> | undefined)?.['volumeClaimTemplates'];
  return { ...wanted, spec: { ...spec, ...(kept === undefined ? {} : { volumeClaimTemplates: kept }) } };
}
