import type { CertificateView } from '@valkey-operator/core';
import type { Secret } from '@valkey-operator/kube';
import { type CertificateFacts, planRotation, readCertificate } from '@valkey-operator/pki/verify';
import { readPem } from './certificate-secret.ts';

export interface ViewOptions {
  /** The root certificate of this installation. */
  root: string;
  rotateBeforePercent: number;
  /** Spreads renewals: owners with different seeds renew at different times. */
  seed: string;
  now: Date;
}

/**
 * The certificate in a Secret as the planner sees it. One that this root does not vouch for, or that cannot be read, is as
 * good as none: it is issued anew.
 */
export function viewCertificate(secret: Secret, options: ViewOptions): CertificateView | undefined {
  const { root, rotateBeforePercent, seed, now } = options;
  const facts = readPem(secret, 'ca.crt') === root ? readFacts(secret) : undefined;
  if (!facts) return undefined;
  const { thumbprint, notBefore, notAfter } = facts;
  const { rotateAt } = planRotation({ notBefore, notAfter }, { rotateBeforePercent }, seed, now);
  return {
    secret: secret.metadata.name,
    thumbprint,
    notBefore: notBefore.getTime(),
    notAfter: notAfter.getTime(),
    renewAt: rotateAt.getTime(),
  };
}

/** By Secret as its cache has it: each look asks, and to read X.509 is the dearest part of one. */
const known = new WeakMap<Secret, CertificateFacts | undefined>();

export function readFacts(secret: Secret): CertificateFacts | undefined {
  if (!known.has(secret)) known.set(secret, parseFacts(secret));
  return known.get(secret);
}

function parseFacts(secret: Secret): CertificateFacts | undefined {
  const pem = readPem(secret, 'tls.crt');
  try {
    return pem === undefined ? undefined : readCertificate(pem);
  } catch {
    return undefined;
  }
}
