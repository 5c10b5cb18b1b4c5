import type { ValkeyCluster } from '@valkey-operator/api';
import type { KubeObject, ResourceCache } from '@valkey-operator/kube';
import { parseWorkloadId } from '@valkey-operator/pki/verify';
import type { PeerRefusal } from '@valkey-operator/rpc/operator';

/**
 * Pods of a cluster that is being deleted may outlive their service account, and say farewell with a token that is not
 * valid any more. They are refused, but nobody need be told.
 */
export function isFarewell(
  { reason, peer }: PeerRefusal,
  clusters: Pick<ResourceCache<ValkeyCluster & KubeObject>, 'get'>,
): boolean {
  const id = parseWorkloadId(peer.certificate?.uris[0] ?? '');
  if (reason !== 'InvalidToken' || id?.kind !== 'sidecar') return false;
  const cluster = clusters.get({ namespace: id.namespace, name: id.cluster });
  return cluster?.metadata.deletionTimestamp !== undefined || cluster === undefined;
}
