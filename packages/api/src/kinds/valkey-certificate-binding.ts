import { conditions, observedGeneration } from '../conditions.ts';
import { age, defineKind, type Resource } from '../define-kind.ts';
import { purpose, thumbprint, validity } from '../fields/certificate.ts';
import { flag, list, object } from '../schema/field.ts';
import { objectName } from '../schema/name.ts';

const active = object('A certificate in use.', {
  purpose,
  bundleRef: objectName('The ValkeyCertificateBundle that signed it.'),
  secretName: objectName('Secret that holds it.'),
  thumbprint,
  ...validity,
  active: flag('Whether every node uses it already.').optional(),
});

const deprecated = object('A certificate that is still accepted, but no longer used.', {
  purpose,
  thumbprint,
  ...validity,
});

const spec = object('Which certificates are in use.', {
  clusterRef: objectName('The deployment, in this namespace.'),
  active: list('Certificates in use.', active, { max: 16 }).optional(),
  deprecated: list('Certificates accepted for a grace period.', deprecated, { max: 64 }).optional(),
});

export const valkeyCertificateBinding = defineKind({
  kind: 'ValkeyCertificateBinding',
  plural: 'valkeycertificatebindings',
  shortNames: ['vcbind'],
  description: 'The certificates that one deployment uses now and those it just replaced, written by the operator.',
  installed: true,
  spec,
  status: object('The state of the certificates.', {
    observedGeneration: observedGeneration.optional(),
    conditions: conditions.optional(),
  }),
  columns: [
    { name: 'Cluster', description: 'The deployment.', jsonPath: '.spec.clusterRef' },
    { name: 'Expires', description: 'End of the first certificate.', jsonPath: '.spec.active[0].expiresAt' },
    age,
  ],
});

export type ValkeyCertificateBinding = Resource<typeof valkeyCertificateBinding>;
