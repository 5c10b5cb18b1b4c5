import {
  apiVersion,
  rootCaName,
  type ValkeyCertificateBinding,
  type ValkeyCertificateBundle,
} from '@valkey-operator/api';
import { childMetadata, childNames } from '@valkey-operator/core';
import type { KubeObject } from '@valkey-operator/kube';
import type { CertificateFacts } from '@valkey-operator/pki/verify';
import type { CertificateOwner } from './certificate-secret.ts';

/** What is sent of an object: its metadata is not yet the server's. */
type Desired<T extends KubeObject & { spec: unknown }> = KubeObject & Pick<T, 'spec'>;

/** For people: the intermediate CA of a cluster (B9). */
export function buildBundle(owner: CertificateOwner, facts: CertificateFacts): Desired<ValkeyCertificateBundle> {
  const { intermediateSecret } = childNames(owner.metadata.name);
  return {
    apiVersion,
    kind: 'ValkeyCertificateBundle',
    metadata: childMetadata(owner, intermediateSecret),
    spec: {
      caRef: rootCaName,
      purpose: 'mtls',
      certSecretRef: intermediateSecret,
      keySecretRef: intermediateSecret,
      ...lifeOf(facts),
      rotationPolicy: { autoRotate: true, renewBeforeDays: renewBeforeDays(owner, facts) },
    },
  };
}

/** For people: the certificate that a cluster's sidecars use, and the one that it replaces, still welcome for a while (B9). */
export function buildBinding(
  owner: CertificateOwner,
  facts: CertificateFacts,
  replaced: CertificateFacts | undefined,
): Desired<ValkeyCertificateBinding> {
  const { name } = owner.metadata;
  const { intermediateSecret, sidecarSecret } = childNames(name);
  const active = {
    purpose: 'mtls',
    bundleRef: intermediateSecret,
    secretName: sidecarSecret,
    ...nameOf(facts),
  } as const;
  return {
    apiVersion,
    kind: 'ValkeyCertificateBinding',
    metadata: childMetadata(owner, sidecarSecret),
    spec: {
      clusterRef: name,
      active: [active],
      deprecated: replaced ? [{ purpose: 'mtls', ...nameOf(replaced) }] : [],
    },
  };
}

function renewBeforeDays({ spec }: CertificateOwner, { notBefore, notAfter }: CertificateFacts): number {
  const days = (notAfter.getTime() - notBefore.getTime()) / (24 * 3600 * 1000);
  return Math.round((days * (100 - spec.operatorMtls.rotateBeforePercent)) / 100);
}

function nameOf(facts: CertificateFacts) {
  return { thumbprint: facts.thumbprint, ...lifeOf(facts) };
}

function lifeOf({ notBefore, notAfter }: CertificateFacts) {
  return { issuedAt: notBefore.toISOString(), expiresAt: notAfter.toISOString() };
}
