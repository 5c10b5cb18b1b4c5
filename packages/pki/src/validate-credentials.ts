import { X509Certificate, createPrivateKey } from 'node:crypto';

import { EXTENDED_KEY_USAGE, findChain, type ChainProblem, type Purpose } from './chain.ts';
import { readCertificate, type CertificateFacts } from './certificate.ts';
import { splitCertificates, type Credentials } from './pem.ts';

export type CredentialProblem =
  | 'Unreadable'
  | 'KeyMismatch'
  | 'WrongUsage'
  | 'WrongIdentity'
  | 'MissingName'
  | ChainProblem;

export interface CredentialExpectation {
  readonly now: Date;
  /** What the certificate will be used for. */
  readonly purposes: readonly Purpose[];
  /** The one SPIFFE id it must carry. */
  readonly spiffeId?: string;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

export type CredentialVerdict =
  | { readonly ok: true; readonly leaf: CertificateFacts; readonly validUntil: Date }
  | { readonly ok: false; readonly problem: CredentialProblem; readonly message: string };

type Refusal = Extract<CredentialVerdict, { ok: false }>;

/**
 * Whether a certificate, its key and the CA fit together and do what is expected of them: asked before they are used or
 * published, so that a broken Secret never replaces credentials that work.
 */
export function validateCredentials(credentials: Credentials, expected: CredentialExpectation): CredentialVerdict {
  const read = readAll(credentials);
  if ('problem' in read) return read;
  const { leaf, intermediates, anchors, key } = read;
  const facts = readCertificate(leaf);
  if (!leaf.checkPrivateKey(key)) return refuse('KeyMismatch', 'the private key does not belong to the certificate');

  const chain = findChain(leaf, intermediates, anchors, expected);
  if (!chain.ok) return refuse(chain.problem, chain.message);
  const refusal = checkUsage(facts, expected.purposes) ?? checkIdentity(facts, expected) ?? checkNames(leaf, expected);
  return refusal ?? { ok: true, leaf: facts, validUntil: chain.validUntil };
}

function readAll({ certificate, privateKey, trustBundle }: Credentials) {
  try {
    const [leaf, ...intermediates] = splitCertificates(certificate).map((pem) => new X509Certificate(pem));
    const anchors = splitCertificates(trustBundle).map((pem) => new X509Certificate(pem));
    if (!leaf) return refuse('Unreadable', 'there is no certificate');
    if (anchors.length === 0) return refuse('Unreadable', 'there is no CA certificate');
    return { leaf, intermediates, anchors, key: createPrivateKey(privateKey) };
  } catch (error) {
    return refuse('Unreadable', error instanceof Error ? error.message : String(error));
  }
}

function checkUsage(facts: CertificateFacts, purposes: readonly Purpose[]): Refusal | undefined {
  if (facts.isCa) return refuse('WrongUsage', 'a CA certificate is not to be used by an endpoint');
  if (facts.keyUsage && !facts.keyUsage.digitalSignature) {
    return refuse('WrongUsage', 'the key usage does not include digitalSignature');
  }
  if (facts.extendedKeyUsage.length === 0) return undefined;
  const missing = purposes.filter((purpose) => !facts.extendedKeyUsage.includes(EXTENDED_KEY_USAGE[purpose]));
  return missing.length > 0
    ? refuse('WrongUsage', `not issued for ${missing.join(' and ')} authentication`)
    : undefined;
}

function checkIdentity(facts: CertificateFacts, { spiffeId }: CredentialExpectation): Refusal | undefined {
  if (spiffeId === undefined || (facts.uris.length === 1 && facts.uris[0] === spiffeId)) return undefined;
  return refuse('WrongIdentity', `must be ${spiffeId}, is ${facts.uris.join(', ') || 'nobody'}`);
}

function checkNames(leaf: X509Certificate, expected: CredentialExpectation): Refusal | undefined {
  const hosts = (expected.dnsNames ?? []).filter((name) => !leaf.checkHost(name, { subject: 'never' }));
  const addresses = (expected.ipAddresses ?? []).filter((address) => !leaf.checkIP(address));
  const missing = [...hosts, ...addresses];
  return missing.length > 0 ? refuse('MissingName', `does not cover ${missing.join(', ')}`) : undefined;
}

function refuse(problem: CredentialProblem, message: string): Refusal {
  return { ok: false, problem, message };
}
