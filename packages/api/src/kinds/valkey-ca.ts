import { conditions, observedGeneration } from '../conditions.ts';
import { age, defineKind, ready, reason, type Resource } from '../define-kind.ts';
import { choice, integer, object, text, timestamp } from '../schema/field.ts';
import { objectName } from '../schema/name.ts';

const spec = object('The certificate authority.', {
  description: text('What it is for.', { max: 512 }).optional(),
  secretType: choice(
    'Secret: the operator reads key and certificate from it. SecretsStore: mounted by the CSI driver.',
    ['Secret', 'SecretsStore'],
  ).default('Secret'),
  caCertSecretRef: objectName('Secret with certificate and key of the root CA, in this namespace.'),
  validForDays: integer('Validity of the root certificate, when the operator issues it.', {
    min: 1,
    max: 36_500,
  }).default(3650),
});

/** Made by the operator at its first start. */
export const rootCaName = 'valkey-root-ca';

export const valkeyCa = defineKind({
  kind: 'ValkeyCA',
  plural: 'valkeycas',
  shortNames: ['vca'],
  description:
    'The root certificate authority. Namespaced, in the namespace of the operator, so that an operator for one namespace needs no rights beyond it. ' +
    'The private key is only in the Secret.',
  installed: true,
  spec,
  status: object('The certificate in use.', {
    observedGeneration: observedGeneration.optional(),
    thumbprint: text('SHA-256 of the certificate, in hex.', { max: 64 }).optional(),
    issuedAt: timestamp('Start of its validity.').optional(),
    expiresAt: timestamp('End of its validity.').optional(),
    conditions: conditions.optional(),
  }),
  columns: [
    ready,
    { name: 'Secret', description: 'Where the key is.', jsonPath: '.spec.caCertSecretRef' },
    { name: 'Expires', description: 'End of its validity.', jsonPath: '.status.expiresAt' },
    age,
    reason,
  ],
});

export type ValkeyCA = Resource<typeof valkeyCa>;
