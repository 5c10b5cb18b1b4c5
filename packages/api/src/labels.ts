import { group } from './group.ts';

/** Labels on everything the operator creates (D1). */
export const labels = {
  /** Name of the owning resource: what selectors use. */
  cr: `${group}/cr`,
  /** `primary` or `replica`, kept true by the operator as roles move. */
  role: `${group}/role`,
  /** The shard a pod belongs to. */
  shard: `${group}/shard`,
  name: 'app.kubernetes.io/name',
  instance: 'app.kubernetes.io/instance',
  component: 'app.kubernetes.io/component',
  partOf: 'app.kubernetes.io/part-of',
  managedBy: 'app.kubernetes.io/managed-by',
  version: 'app.kubernetes.io/version',
} as const;

export const managedBy = 'valkey-operator';
