import { group } from './group.ts';

export const annotations = {
  /** Name of the owning resource. Removing it from the StatefulSet makes the operator let go of the cluster (D7). */
  cr: `${group}/cr`,
  /** Says to people that changes by hand are refused or reverted. */
  locked: `${group}/locked`,
  /** Digest of what the operator last wished an object to be: what differs although the wish is the same, others have changed. */
  applied: `${group}/applied`,
  /** One-time proof that a write is the operator's own (D6). */
  updateToken: `${group}/update-token`,
  /** "true" on a cluster: the operator watches and reports, but acts no more (C9). */
  paused: `${group}/paused`,
  /** A timestamp on a cluster: every pod that started before it is restarted, one at a time. */
  restartAt: `${group}/restart-at`,
  /** The id of an orchestration that has begun, or "true", on a cluster: the change stops where it safely can. Another id is told. */
  cancel: `${group}/cancel`,
  /** On a pod and in its template: digests of what it was made from, so that it is known which pods a change concerns. */
  template: `${group}/template`,
  /** On a pod: the resources that could not be given to it while it runs, so that it is replaced instead, and why. */
  resizeRefused: `${group}/resize-refused`,
  /** "true" on a cluster without replicas: a shard may be down while its only pod is replaced. */
  allowGap: `${group}/allow-gap`,
  /** "true" on a cluster whose shards have neither replicas nor data on a volume: the data may go when their only pod is replaced. */
  allowDataLoss: `${group}/allow-data-loss`,
  /** "true" on a cluster: an image whose tag names no version, or that could not show what it is, may be rolled out. */
  allowUnknownVersion: `${group}/allow-unknown-version`,
  /** A person's word that missing primaries are gone for good, so that replicas may take over without a quorum. */
  forceTakeover: `${group}/force-takeover`,
  /** For tests of an operator with --crash-points: where it shall end itself. */
  crashAt: `${group}/crash-at`,
  /** On our CRDs: tells them from those of another operator with the same names. */
  product: `${group}/product`,
} as const;

export const product = 'valkey-operator';

/** On our CRs and on Valkey pods (D3). */
export const finalizer = `${group}/finalizer`;
