import { createPrivateKey, randomBytes, webcrypto } from 'node:crypto';

import * as x509 from './x509.ts';

import type { AuthorityName } from './authority-name.ts';
import type { Credentials } from './pem.ts';

/** A CA as it is kept: its certificate first, then those above it up to, but not including, the root. */
export type Authority = Pick<Credentials, 'certificate' | 'privateKey'>;

export interface CertificateTemplate {
  readonly name: AuthorityName;
  readonly now: Date;
  readonly validityMs: number;
  readonly extensions: readonly x509.Extension[];
}

const ECDSA_P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

// Clocks of two nodes differ a little; a certificate that is not valid yet on the other one would be refused.
const BACKDATE_MS = 60_000;
const MAX_NAME = 64; // RFC 5280: ub-common-name, ub-organization-name

/** Makes a key and signs a certificate for it; without an issuer the certificate signs itself. */
export async function signCertificate(template: CertificateTemplate, issuer?: Authority): Promise<Authority> {
  const keys = await webcrypto.subtle.generateKey(ECDSA_P256, true, ['sign', 'verify']);
  const signer = issuer && (await readSigner(issuer));
  const subject = template.name.map(([attribute, value]) => ({ [attribute]: [checkLength(value)] }));
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject,
    issuer: signer?.certificate.subjectName.toJSON() ?? subject,
    ...lifeOf(template, signer?.certificate),
    publicKey: keys.publicKey,
    signingKey: signer?.key ?? keys.privateKey,
    signingAlgorithm: ECDSA_P256,
    extensions: [
      ...template.extensions,
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(signer?.certificate.publicKey ?? keys.publicKey),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, privateKey: await exportKey(keys.privateKey) };
}

function checkLength(value: string): string {
  if (value.length > MAX_NAME) throw new RangeError(`longer than ${MAX_NAME} characters: ${JSON.stringify(value)}`);
  return value;
}

async function readSigner(issuer: Authority) {
  const pkcs8 = createPrivateKey(issuer.privateKey).export({ type: 'pkcs8', format: 'der' });
  const key = await webcrypto.subtle.importKey('pkcs8', pkcs8, ECDSA_P256, false, ['sign']);
  return { key, certificate: new x509.X509Certificate(issuer.certificate) };
}

/** Never longer than the issuer's own life: a chain ends with its first certificate that ends. */
function lifeOf(template: CertificateTemplate, issuer?: x509.X509Certificate): { notBefore: Date; notAfter: Date } {
  const { now, validityMs } = template;
  if (issuer && (now < issuer.notBefore || now >= issuer.notAfter)) {
    throw new RangeError(`the CA ${issuer.subject} is not valid at ${now.toISOString()}`);
  }
  const end = now.getTime() + validityMs;
  return {
    notBefore: wholeSeconds(now.getTime() - BACKDATE_MS),
    notAfter: wholeSeconds(issuer ? Math.min(end, issuer.notAfter.getTime()) : end),
  };
}

function wholeSeconds(time: number): Date {
  return new Date(Math.floor(time / 1000) * 1000);
}

/** 127 random bits with the first byte neither zero nor negative, as RFC 5280 4.1.2.2 asks. */
function newSerial(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes.toString('hex');
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key));
  return createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
    .export({ type: 'pkcs8', format: 'pem' })
    .toString();
}
