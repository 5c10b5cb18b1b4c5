import { conditions, observedGeneration } from '../conditions.ts';
import { age, defineKind, ready, reason, type Resource } from '../define-kind.ts';
import { purpose, validity } from '../fields/certificate.ts';
import { flag, integer, object } from '../schema/field.ts';
import { objectName } from '../schema/name.ts';

const rotationPolicy = object('When the intermediate CA is renewed.', {
  autoRotate: flag('Whether the operator renews it.').default(true),
  renewBeforeDays: integer('Days before its end at which it is renewed.', { min: 1, max: 3650 }).default(30),
});

const spec = object('The intermediate CA.', {
  caRef: objectName('The ValkeyCA that signed it, in the namespace of the operator.'),
  purpose,
  certSecretRef: objectName('Secret with the certificate.'),
  keySecretRef: objectName('Secret with the private key.'),
  issuedAt: validity.issuedAt.optional(),
  expiresAt: validity.expiresAt.optional(),
  rotationPolicy: rotationPolicy.prefault({}),
});

export const valkeyCertificateBundle = defineKind({
  kind: 'ValkeyCertificateBundle',
  plural: 'valkeycertificatebundles',
  shortNames: ['vcb'],
  description:
    'The intermediate certificate authority of one deployment, made and owned by it. Private keys are only in Secrets.',
  installed: true,
  spec,
  status: object('The state of the intermediate CA.', {
    observedGeneration: observedGeneration.optional(),
    conditions: conditions.optional(),
  }),
  columns: [
    ready,
    { name: 'Purpose', description: 'What it signs for.', jsonPath: '.spec.purpose' },
    { name: 'CA', description: 'Who signed it.', jsonPath: '.spec.caRef' },
    { name: 'Expires', description: 'End of its validity.', jsonPath: '.spec.expiresAt' },
    age,
    reason,
  ],
});

export type ValkeyCertificateBundle = Resource<typeof valkeyCertificateBundle>;
