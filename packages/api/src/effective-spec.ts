import type { WithBuiltIns } from './built-in-defaults.ts';
import type { ClusterDefaults } from './kinds/valkey-cluster-defaults.ts';
import { clusterSpec, type ValkeyClusterSpec } from './kinds/valkey-cluster.ts';
import { toStructural, type StructuralSchema } from './schema/structural.ts';

/** The spec of a cluster with every default in it. */
export type EffectiveClusterSpec = WithBuiltIns<ValkeyClusterSpec>;

const schema = toStructural(clusterSpec);

/**
 * What is put into effect (B8), from least to most: built in, the namespace of the operator, the namespace of the
 * cluster, the cluster itself. Objects merge field by field; lists and atomic objects are taken as a whole.
 */
export function resolveEffectiveSpec(
  builtIn: WithBuiltIns<ClusterDefaults>,
  operatorNamespace: ClusterDefaults,
  clusterNamespace: ClusterDefaults,
  spec: ValkeyClusterSpec,
): EffectiveClusterSpec {
  const layers = [operatorNamespace, clusterNamespace, spec];
  // Merging only ever adds to the built-in defaults, so what they have is still there.
  return layers.reduce<unknown>((below, above) => merge(schema, below, above), builtIn) as EffectiveClusterSpec;
}

function merge(node: StructuralSchema, below: unknown, above: unknown): unknown {
  if (above === undefined) return below;
  if (!isObject(below) || !isObject(above) || node['x-kubernetes-map-type'] === 'atomic') return above;
  const keys = [...new Set([...Object.keys(below), ...Object.keys(above)])];
  const child = (key: string): StructuralSchema => node.properties?.[key] ?? node.additionalProperties ?? {};
  return Object.fromEntries(keys.map((key) => [key, merge(child(key), below[key], above[key])]));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
