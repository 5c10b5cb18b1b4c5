import * as x509 from './x509.ts';

import { signCertificate, type Authority } from './sign-certificate.ts';

export interface CaRequest {
  readonly commonName: string;
  readonly validityMs: number;
  readonly now: Date;
}

/** The root of all trust of one operator: made once, at its first start, and kept in a Secret. */
export function createRootCa(request: CaRequest): Promise<Authority> {
  return signCertificate({ ...request, extensions: caExtensions(1) });
}

/** The CA of one cluster: it signs leaves only, so a lost key harms one cluster and cannot make further CAs. */
export function createIntermediateCa(root: Authority, request: CaRequest): Promise<Authority> {
  return signCertificate({ ...request, extensions: caExtensions(0) }, root);
}

function caExtensions(pathLength: number): x509.Extension[] {
  return [
    new x509.BasicConstraintsExtension(true, pathLength, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
  ];
}
