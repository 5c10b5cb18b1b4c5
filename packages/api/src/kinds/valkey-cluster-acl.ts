import { conditions, observedGeneration } from '../conditions.ts';
import { age, defineKind, phase, type Resource } from '../define-kind.ts';
import { clustersInUse, nodeOutcome } from '../fields/clusters-in-use.ts';
import { choice, list, object, text } from '../schema/field.ts';
import { objectName } from '../schema/name.ts';
import type { Rule } from '../schema/rule.ts';

const secretStays: Rule = {
  rule: 'self == oldSelf',
  message: 'must not change after creation: change the users inside the Secret, or create another ValkeyClusterAcl',
  reason: 'FieldValueForbidden',
};

const spec = object('Where the users of Valkey are defined.', {
  secretName: objectName(
    'Secret with the key acl-definitions.yaml, or the SecretProviderClass that mounts it. Immutable.',
    { rules: [secretStays] },
  ),
  secretType: choice(
    'Secret: read by the operator and mounted. SecretsStore: mounted by the CSI driver, so that only the pods can read it.',
    ['Secret', 'SecretsStore'],
  ).default('Secret'),
});

export const valkeyClusterAcl = defineKind({
  kind: 'ValkeyClusterAcl',
  plural: 'valkeyclusteracls',
  shortNames: ['vcacl'],
  description: 'Users and passwords for the deployments of this namespace that name it. One may serve several.',
  installed: false,
  spec,
  status: object('Where the users are in effect.', {
    observedGeneration: observedGeneration.optional(),
    phase: choice('One-word summary.', [
      'MissingSecret',
      'IncompleteSecret',
      'Applying',
      'Applied',
      'Error',
    ]).optional(),
    nodes: list('Every node that uses it.', nodeOutcome, { max: 3000, key: 'name' }).optional(),
    clusters: clustersInUse.optional(),
    definitionHash: text('Hash of the definitions in effect.', { max: 64 }).optional(),
    conditions: conditions.optional(),
  }),
  columns: [phase, { name: 'Secret', description: 'Where the users are defined.', jsonPath: '.spec.secretName' }, age],
});

export type ValkeyClusterAcl = Resource<typeof valkeyClusterAcl>;
