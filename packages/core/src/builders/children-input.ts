import type { EffectiveClusterSpec, ValkeyCluster } from '@valkey-operator/api';
import type { OperatorView } from '../snapshot.ts';
import type { NodeSettings } from './settings.ts';

export interface ChildrenInput {
  readonly cluster: ValkeyCluster;
  readonly spec: EffectiveClusterSpec;
  readonly operator: OperatorView;
  /** Pods to have at present, where that is not yet what the spec asks for. */
  readonly replicas?: number;
  /** Settings that are in effect at present, where those are not yet what the spec asks for. */
  readonly settings?: NodeSettings | undefined;
  /** What pods are made of at present, where that is not yet, or not any more, what the spec asks for. */
  readonly template?: EffectiveClusterSpec;
  /** The operator replaces a pod just now. */
  readonly mayLackOne?: boolean;
}

/** Pods that a cluster of this size has. */
export function podCount({
  masterCount,
  replicasPerMaster,
}: Pick<EffectiveClusterSpec, 'masterCount' | 'replicasPerMaster'>): number {
  return masterCount * (1 + replicasPerMaster);
}
