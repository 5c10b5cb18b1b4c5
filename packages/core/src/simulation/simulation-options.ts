import type { EffectiveClusterSpec } from '@valkey-operator/api';

/** What a simulated cluster begins with. */
export interface SimulationOptions {
  readonly shards?: number;
  readonly replicas?: number;
  readonly zones?: number;
  readonly nodesPerZone?: number;
  /** Of each node; without them there is room for everything. */
  readonly usedBytes?: number;
  readonly maxBytes?: number;
  readonly spec?: Partial<EffectiveClusterSpec>;
}
