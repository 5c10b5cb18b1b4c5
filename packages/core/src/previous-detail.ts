import type { ValkeyClusterStatus } from '@valkey-operator/api';
import { childNames } from './builders/names.ts';
import type { ClusterSnapshot } from './snapshot.ts';

/** The detail as it was written last. */
export function previousDetail({
  cluster,
  children,
}: Pick<ClusterSnapshot, 'cluster' | 'children'>): NonNullable<ValkeyClusterStatus['status']> {
  const name = childNames(cluster.metadata.name).status;
  const found = children.find(({ kind, metadata }) => kind === 'ValkeyClusterStatus' && metadata.name === name);
  return (found?.['status'] as ValkeyClusterStatus['status']) ?? {};
}
