import { finalizer } from '@valkey-operator/api';
import { type Decision, type PlanView, stagesOf } from '../decision.ts';
import { findStatefulSet } from '../expectation.ts';

/**
 * The cluster is being deleted. Kubernetes collects the children by their owner; volumes belong to nobody, so they go or
 * stay as the deletion policy says. The StatefulSet goes before its claims, or it would make new ones.
 */
export function planDeletion({ snapshot }: PlanView): Decision | undefined {
  const { cluster, spec, claims } = snapshot;
  if (cluster.metadata.deletionTimestamp === undefined) return undefined;
  const doomed = spec.deletionPolicy === 'Delete' ? claims.filter(({ deletionTimestamp }) => !deletionTimestamp) : [];
  const statefulSet = doomed.length > 0 ? findStatefulSet(snapshot) : undefined;
  const { apiVersion, kind, metadata } = statefulSet ?? {};
  const isHeld = cluster.metadata.finalizers?.includes(finalizer) ?? false;
  return {
    reason: 'Deleting',
    message:
      spec.deletionPolicy === 'Delete'
        ? 'The cluster is being deleted, its volumes included (spec.deletionPolicy is Delete).'
        : 'The cluster is being deleted; its volumes stay (spec.deletionPolicy is Retain).',
    stages: stagesOf(
      apiVersion && kind && metadata?.uid && !metadata.deletionTimestamp
        ? [{ type: 'DeleteChild', apiVersion, kind, name: metadata.name, uid: metadata.uid }]
        : [],
      doomed.map(({ name, uid }) => ({ type: 'DeleteClaim', claim: name, uid })),
      isHeld ? [{ type: 'RemoveFinalizer' }] : [],
    ),
  };
}
