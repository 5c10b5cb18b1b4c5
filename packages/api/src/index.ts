export * from './annotations.ts';
export * from './built-in-defaults.ts';
export { clusterConditions, type ClusterConditionType, type Condition } from './conditions.ts';
export { buildCrd, isForeignCrd, type Crd } from './crd.ts';
export type { Kind, ObjectMeta, OwnerReference, Resource } from './define-kind.ts';
export { resolveEffectiveSpec, type EffectiveClusterSpec } from './effective-spec.ts';
export { phases, type Phase } from './fields/feature-status.ts';
export {
  orchestrationKinds,
  type Cancelled,
  type Orchestration,
  type OrchestrationKind,
  type PendingOrchestration,
  type Plan,
} from './fields/orchestration.ts';
export { isOwnedSetting } from './fields/valkey-config.ts';
export * from './group.ts';
export * from './kinds/index.ts';
export * from './labels.ts';
export * from './ports.ts';
export * from './reasons.ts';
export { nextFiring } from './schema/cron.ts';
export { parseDuration } from './schema/duration.ts';
export { parseQuantity, type Quantity } from './schema/quantity.ts';
export { validate } from './validate/validate.ts';
