import { X509Certificate } from 'node:crypto';

/** What a TLS endpoint needs, as the three files of a Secret: tls.crt (leaf, then its intermediates), tls.key, ca.crt. */
export interface Credentials {
  readonly certificate: string;
  readonly privateKey: string;
  readonly trustBundle: string;
}

const BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** Each certificate of a PEM bundle, in its order and normalised; text between the blocks is dropped. */
export function splitCertificates(pemBundle: string): string[] {
  return [...pemBundle.matchAll(BLOCK)].map(([block]) => new X509Certificate(block).toString());
}

/**
 * One trust bundle of several: while a CA is replaced, both ends trust the old and the new one, so that it does not
 * matter who learns of the new one first. Duplicates and expired certificates are left out.
 */
export function bundleCertificates(pemBundles: readonly string[], now: Date): string {
  const unique = new Set(pemBundles.flatMap(splitCertificates));
  return [...unique].filter((pem) => new X509Certificate(pem).validToDate > now).join('');
}
