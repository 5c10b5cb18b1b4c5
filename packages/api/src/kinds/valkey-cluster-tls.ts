import { conditions, observedGeneration } from '../conditions.ts';
import { age, defineKind, ready, reason, type Resource } from '../define-kind.ts';
import { certificateSchedule } from '../fields/operator-mtls.ts';
import { clustersInUse } from '../fields/clusters-in-use.ts';
import { ports } from '../ports.ts';
import { cron } from '../schema/cron.ts';
import { choice, flag, integer, object, text, timestamp } from '../schema/field.ts';
import { objectName } from '../schema/name.ts';
import { matches, type Rule } from '../schema/rule.ts';

const issuerRef = object('A cert-manager issuer that signs the certificates.', {
  name: objectName('Name of the issuer.'),
  kind: choice('Issuer of this namespace, or of the whole Kubernetes cluster.', ['Issuer', 'ClusterIssuer']).default(
    'Issuer',
  ),
  group: text('API group of the issuer.').default('cert-manager.io'),
});

const oneExternalSource: Rule = {
  rule: '!(has(self.externalCerts) && has(self.issuerRef))',
  message: 'must not be set beside externalCerts: choose one source of certificates',
  reason: 'FieldValueForbidden',
  fieldPath: '.issuerRef',
};

const portsDiffer: Rule = {
  rule: `self.disableNonTlsPort || self.tlsPort != ${ports.valkey}`,
  message: `must not be ${ports.valkey} while disableNonTlsPort is false: the port without TLS is there`,
  fieldPath: '.tlsPort',
};

const spec = object(
  'TLS settings of Valkey. Without externalCerts and issuerRef the operator issues and rotates the certificates.',
  {
    externalCerts: objectName(
      'A Secret with tls.crt, tls.key and ca.crt, made and renewed by someone else. internalCerts is ignored then.',
    ).optional(),
    issuerRef: issuerRef.optional(),
    internalCerts: object('Certificates issued by the operator.', certificateSchedule).optional(),
    tlsSecretName: objectName('The Secret that the pods mount; none: <name>-tls of the cluster.').optional(),
    disableNonTlsPort: flag('Close the port without TLS.').default(true),
    tlsPort: integer('Port with TLS.', { min: 1024, max: 65_535 }).default(ports.valkey),
    tlsAuthClients: flag('Require a certificate of every client.').default(true),
    tlsCluster: flag('Use TLS on the cluster bus.').default(true),
    tlsReplication: flag('Use TLS between primaries and replicas.').default(true),
    tlsCiphers: text('Cipher suites, as OpenSSL lists them; none: its defaults.', {
      max: 2048,
      rules: [matches('^[-A-Za-z0-9_:+!@=]+$', 'must be an OpenSSL cipher list, separated by ":"')],
    }).optional(),
    tlsProtocols: text('TLS versions, separated by spaces.', {
      max: 32,
      rules: [matches('^TLSv1[.][23]( TLSv1[.][23])?$', 'must be TLSv1.2, TLSv1.3 or both, separated by a space')],
    }).default('TLSv1.2 TLSv1.3'),
    tlsDhParamsFile: object('Diffie-Hellman parameters.', {
      valueFrom: object('Where they are.', {
        configMapKeyRef: object('A key of a ConfigMap.', {
          name: objectName('Name of the ConfigMap.'),
          key: text('Key that holds the parameters in PEM.'),
        }),
      }),
    }).optional(),
    tlsRefreshRestartWindow: cron(
      'When pods may restart for a certificate that Valkey cannot reload live, in UTC: "0 4 * * 6,0".',
    ).optional(),
  },
  { rules: [oneExternalSource, portsDiffer] },
);

export const valkeyClusterTls = defineKind({
  kind: 'ValkeyClusterTls',
  plural: 'valkeyclustertls',
  shortNames: ['vctls'],
  description: 'TLS settings for the deployments of this namespace that name it. One may serve several.',
  installed: false,
  spec,
  status: object('Where the settings are in effect.', {
    observedGeneration: observedGeneration.optional(),
    certificateExpiry: timestamp('When the certificate in use expires.').optional(),
    clusters: clustersInUse.optional(),
    conditions: conditions.optional(),
  }),
  columns: [
    ready,
    { name: 'Source', description: 'Secret with external certificates.', jsonPath: '.spec.externalCerts' },
    { name: 'Cert-Expiry', description: 'When the certificate expires.', jsonPath: '.status.certificateExpiry' },
    age,
    reason,
  ],
});

export type ValkeyClusterTls = Resource<typeof valkeyClusterTls>;
