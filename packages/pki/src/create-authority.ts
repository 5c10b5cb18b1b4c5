import { authorityNameFor, type AuthorityName } from './authority-name.ts';
import { signCertificate, type Authority } from './sign-certificate.ts';
import * as x509 from './x509.ts';

export interface CaRequest {
  readonly validityMs: number;
  readonly now: Date;
}

/** The root of all trust of one operator: made once, at its first start, and kept in a Secret. */
export function createRootCa(request: CaRequest & { readonly commonName: string }): Promise<Authority> {
  return createCa([['CN', request.commonName]], 1, request);
}

/** The CA of the operator's own certificates. */
export function createOperatorCa(
  root: Authority,
  request: CaRequest & { readonly trustDomain: string },
): Promise<Authority> {
  return createCa(authorityNameFor({ kind: 'operator', ...request }), 0, request, root);
}

/** The CA of one cluster: it vouches for the sidecars and servers of that cluster alone, and cannot make further CAs. */
export function createClusterCa(
  root: Authority,
  request: CaRequest & { readonly trustDomain: string; readonly namespace: string; readonly cluster: string },
): Promise<Authority> {
  const { trustDomain, namespace, cluster } = request;
  return createCa(authorityNameFor({ kind: 'sidecar', trustDomain, namespace, cluster }), 0, request, root);
}

function createCa(
  name: AuthorityName,
  pathLength: number,
  { now, validityMs }: CaRequest,
  issuer?: Authority,
): Promise<Authority> {
  const extensions = [
    new x509.BasicConstraintsExtension(true, pathLength, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
  ];
  return signCertificate({ name, now, validityMs, extensions }, issuer);
}
