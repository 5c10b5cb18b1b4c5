import type { z } from 'zod';
import { builtInDefaults } from '../built-in-defaults.ts';
import { conditions, observedGeneration } from '../conditions.ts';
import { age, defineKind, type Resource } from '../define-kind.ts';
import { object } from '../schema/field.ts';
import { clusterDefaults, clusterRules } from './valkey-cluster.ts';

/** The only name that has an effect. */
export const defaultsName = 'valkey-operator-defaults';

const spec = object(
  'Fields of ValkeyCluster, for clusters that leave them out. tls, acl, management and allowDowngrade cannot be here: leaving them out has a meaning of its own.',
  clusterDefaults,
  { rules: clusterRules },
).prefault({});

export const valkeyClusterDefaults = defineKind({
  kind: 'ValkeyClusterDefaults',
  plural: 'valkeyclusterdefaults',
  shortNames: ['vcd'],
  description:
    `Defaults for ValkeyClusters. From least to most: built in, ${defaultsName} in the namespace of the operator, ` +
    `${defaultsName} in the namespace of the cluster, the cluster itself. A changed default never rolls a running cluster by itself.`,
  installed: true,
  spec,
  builtIn: builtInDefaults,
  status: object('How the defaults are used.', {
    observedGeneration: observedGeneration.optional(),
    conditions: conditions.optional(),
  }),
  rules: [
    {
      rule: `self.metadata.name == '${defaultsName}'`,
      message: `metadata.name must be ${defaultsName}: no other name has an effect`,
    },
  ],
  columns: [age],
});

export type ValkeyClusterDefaults = Resource<typeof valkeyClusterDefaults>;
export type ClusterDefaults = z.output<typeof spec>;
