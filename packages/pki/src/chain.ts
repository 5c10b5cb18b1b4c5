import type { X509Certificate } from 'node:crypto';

import { readCertificate, type CertificateFacts } from './certificate.ts';

export type Purpose = 'server' | 'client';

export const EXTENDED_KEY_USAGE: Readonly<Record<Purpose, string>> = {
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
};

export type ChainProblem = 'NotYetValid' | 'Expired' | 'UntrustedChain' | 'InvalidIssuer';

export type ChainResult =
  /** validUntil: the earliest end in the chain, which is when it stops being trusted. */
  | { readonly ok: true; readonly validUntil: Date }
  | { readonly ok: false; readonly problem: ChainProblem; readonly message: string };

interface ChainRules {
  readonly now: Date;
  readonly purposes: readonly Purpose[];
}

/**
 * Finds a way from `certificate` over `intermediates` to a self-signed certificate among `anchors`, as OpenSSL would: each
 * signature verified, each certificate in force, each issuer a CA that may sign this deep. All ways are tried, because an
 * old and a new CA of the same name may stand side by side during a CA change. `below` counts the CAs already passed.
 */
export function findChain(
  certificate: X509Certificate,
  intermediates: readonly X509Certificate[],
  anchors: readonly X509Certificate[],
  rules: ChainRules,
  below = 0,
): ChainResult {
  const facts = readCertificate(certificate);
  const untimely = checkDates(facts, rules.now);
  if (untimely) return untimely;

  let result: ChainResult = broken('UntrustedChain', `no trusted CA has signed ${nameOf(facts)}`);
  for (const issuer of [...anchors, ...intermediates]) {
    if (!isSignedBy(certificate, issuer)) continue;
    result = checkIssuer(readCertificate(issuer), rules, below) ?? climb(issuer);
    if (result.ok) return { ok: true, validUntil: new Date(Math.min(+result.validUntil, +facts.notAfter)) };
  }
  return result;

  function climb(issuer: X509Certificate): ChainResult {
    if (anchors.includes(issuer) && isSignedBy(issuer, issuer)) {
      const root = readCertificate(issuer);
      return checkDates(root, rules.now) ?? { ok: true, validUntil: root.notAfter };
    }
    // Each step uses up its issuer, so that certificates which signed each other cannot lead in a circle.
    const unused = (candidate: X509Certificate) => candidate !== issuer;
    return findChain(issuer, intermediates.filter(unused), anchors.filter(unused), rules, below + 1);
  }
}

function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  // Not checkIssued(): it is also false for an issuer that is no CA, which deserves a message of its own.
  return certificate.issuer === issuer.subject && certificate.verify(issuer.publicKey);
}

function checkDates(facts: CertificateFacts, now: Date): ChainResult | undefined {
  if (now < facts.notBefore)
    return broken('NotYetValid', `${nameOf(facts)} is valid from ${facts.notBefore.toISOString()}`);
  if (now > facts.notAfter) return broken('Expired', `${nameOf(facts)} ended at ${facts.notAfter.toISOString()}`);
  return undefined;
}

function checkIssuer(issuer: CertificateFacts, rules: ChainRules, below: number): ChainResult | undefined {
  const name = nameOf(issuer);
  if (!issuer.isCa) return broken('InvalidIssuer', `${name} is not a CA`);
  if (issuer.keyUsage && !issuer.keyUsage.keyCertSign)
    return broken('InvalidIssuer', `${name} may not sign certificates`);
  if (issuer.pathLength !== undefined && issuer.pathLength < below) {
    return broken('InvalidIssuer', `${name} allows ${issuer.pathLength} CAs below it, there are ${below}`);
  }
  const limited = issuer.extendedKeyUsage.length > 0;
  const forbidden = rules.purposes.find(
    (purpose) => limited && !issuer.extendedKeyUsage.includes(EXTENDED_KEY_USAGE[purpose]),
  );
  return forbidden ? broken('InvalidIssuer', `${name} may not issue for ${forbidden} authentication`) : undefined;
}

function broken(problem: ChainProblem, message: string): ChainResult {
  return { ok: false, problem, message };
}

function nameOf(facts: CertificateFacts): string {
  return JSON.stringify(facts.subject.replaceAll('\n', ', ') || facts.thumbprint);
}
