import {
  annotations,
  apiVersion,
  type EffectiveClusterSpec,
  labels,
  managedBy,
  type ValkeyCluster,
} from '@valkey-operator/api';

/** Selects everything of one cluster. Never changes: a StatefulSet's selector cannot. */
export function selectorLabels(cluster: string): Record<string, string> {
  return { [labels.name]: 'valkey', [labels.instance]: cluster, [labels.cr]: cluster };
}

/** Who owns a child, and what its spec adds to the labels of all of them: pass the effective spec, not the written one. */
export interface Owner {
  readonly metadata: ValkeyCluster['metadata'];
  readonly spec: Pick<EffectiveClusterSpec, 'labels' | 'annotations'>;
}

/** What every child carries (D1): who owns it, and that hands off is meant. The spec's own labels come along. */
export function childMetadata({ metadata, spec }: Owner, name: string) {
  return {
    name,
    namespace: metadata.namespace,
    labels: { ...spec.labels, ...selectorLabels(metadata.name), [labels.managedBy]: managedBy },
    annotations: { ...spec.annotations, [annotations.cr]: metadata.name, [annotations.locked]: 'true' },
    ownerReferences: [
      {
        apiVersion,
        kind: 'ValkeyCluster',
        name: metadata.name,
        uid: metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  };
}
