import { X509Certificate } from 'node:crypto';

import { readExtensions, type Extensions } from './extensions.ts';
import { splitCertificates } from './pem.ts';

export interface CertificateFacts extends Extensions {
  /** SHA-256 over the DER, lower-case hex: the name of this very certificate in status, reports and logs. */
  readonly thumbprint: string;
  readonly subject: string;
  readonly issuer: string;
  readonly serial: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** OIDs; empty when the certificate does not restrict its purpose. */
  readonly extendedKeyUsage: readonly string[];
}

/** Facts of one certificate: PEM (its first block), or an X509Certificate as a TLS socket hands it out. */
export function readCertificate(source: string | X509Certificate): CertificateFacts {
  const certificate = typeof source === 'string' ? new X509Certificate(source) : source;
  return {
    ...readExtensions(certificate.raw),
    thumbprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    subject: certificate.subject,
    issuer: certificate.issuer,
    serial: certificate.serialNumber.toLowerCase(),
    notBefore: certificate.validFromDate,
    notAfter: certificate.validToDate,
    // Node's name for what X.509 calls extended key usage.
    extendedKeyUsage: certificate.keyUsage ?? [],
  };
}

export function readCertificates(pemBundle: string): CertificateFacts[] {
  return splitCertificates(pemBundle).map(readCertificate);
}
