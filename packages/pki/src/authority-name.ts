import type { CertificateFacts } from './certificate.ts';
import { workloadIdUri, type WorkloadId } from './spiffe.ts';

/** The subject of a CA, in the order in which it is written into its certificate. */
export type AuthorityName = ReadonlyArray<readonly [attribute: 'O' | 'CN', value: string]>;

/**
 * The one CA that may vouch for a workload. X.509 cannot confine a CA to the path of a URI, so its name does: the key of a
 * cluster's CA lies in the namespace of the cluster, and whoever reads it there must not become another cluster, or the
 * operator. The name cannot be forged: only the root, which never leaves the operator, signs CAs.
 */
export function authorityNameFor(id: WorkloadId): AuthorityName {
  workloadIdUri(id);
  if (id.kind === 'operator') return [['CN', 'valkey-operator']];
  return [
    ['O', id.namespace],
    ['CN', id.cluster],
  ];
}

/** Whether the certificate comes from the CA that may vouch for `id`. That its chain is good has been checked before. */
export function isVouchedFor(id: WorkloadId, { issuer }: Pick<CertificateFacts, 'issuer'>): boolean {
  // As node:crypto writes a name. The values are DNS names, in which nothing needs an escape.
  const name = authorityNameFor(id).map(([attribute, value]) => `${attribute}=${value}`);
  return issuer === name.join('\n');
}
