import type { Live, PersistentVolume, PersistentVolumeClaim } from '@valkey-operator/kube';

/** What the provisioner of the lab has to do next, decided from the claims and volumes alone. */
export type VolumeAction =
  | { do: 'create'; volume: PersistentVolume; node: string }
  | { do: 'grow'; volume: string; claim: { namespace: string; name: string }; storage: string }
  | { do: 'remove'; volume: string; node: string };

export interface VolumeClass {
  storageClass: string;
  provisioner: string;
  /** Where a volume of a node lives. */
  path: (node: string, volume: string) => string;
}

const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
const HOSTNAME = 'kubernetes.io/hostname';

export function planVolumes(
  claims: readonly Live<PersistentVolumeClaim>[],
  volumes: readonly Live<PersistentVolume>[],
  kind: VolumeClass,
): VolumeAction[] {
  const own = volumes.filter((volume) => volume.metadata.annotations?.[PROVISIONED_BY] === kind.provisioner);
  const byName = new Map(own.map((volume) => [volume.metadata.name, volume]));
  return [
    ...claims
      .filter((claim) => claim.spec?.storageClassName === kind.storageClass)
      .flatMap((claim) => planClaim(claim, byName.get(volumeName(claim)), kind)),
    ...own
      .filter(
        (volume) => volume.status?.phase === 'Released' && volume.spec?.persistentVolumeReclaimPolicy === 'Delete',
      )
      .map((volume) => ({ do: 'remove' as const, volume: volume.metadata.name, node: nodeOf(volume) })),
  ];
}

function planClaim(
  claim: Live<PersistentVolumeClaim>,
  volume: Live<PersistentVolume> | undefined,
  kind: VolumeClass,
): VolumeAction[] {
  const node = claim.metadata.annotations?.[SELECTED_NODE];
  const wanted = claim.spec?.resources?.requests?.storage;
  if (!wanted || claim.metadata.deletionTimestamp) return [];
  if (!volume) return node ? [{ do: 'create', volume: buildVolume(claim, node, wanted, kind), node }] : [];
  // The API server lets a claim only grow, so a difference is a growth. Directories have no size: both sides are told.
  const told = volume.spec?.capacity?.storage === wanted && claim.status?.capacity?.storage === wanted;
  if (claim.status?.phase !== 'Bound' || told) return [];
  const { namespace = '', name } = claim.metadata;
  return [{ do: 'grow', volume: volume.metadata.name, claim: { namespace, name }, storage: wanted }];
}

function volumeName(claim: Live<PersistentVolumeClaim>): string {
  return `pvc-${claim.metadata.uid}`;
}

function buildVolume(
  claim: Live<PersistentVolumeClaim>,
  node: string,
  storage: string,
  kind: VolumeClass,
): PersistentVolume {
  const name = volumeName(claim);
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { [PROVISIONED_BY]: kind.provisioner } },
    spec: {
      capacity: { storage },
      accessModes: claim.spec?.accessModes ?? ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: kind.storageClass,
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        name: claim.metadata.name,
        namespace: claim.metadata.namespace ?? '',
        uid: claim.metadata.uid,
      },
      // A local volume, not a hostPath: only for it the kubelet hands the files to the pod's fsGroup.
      local: { path: kind.path(node, name) },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: HOSTNAME, operator: 'In', values: [node] }] }] },
      },
    },
  };
}

function nodeOf(volume: Live<PersistentVolume>): string {
  const term = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms[0]?.matchExpressions?.[0];
  return term?.values?.[0] ?? '';
}
