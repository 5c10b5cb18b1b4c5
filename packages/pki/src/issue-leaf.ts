import { isIP } from 'node:net';

import * as x509 from './x509.ts';

import { isVouchedFor } from './authority-name.ts';
import { EXTENDED_KEY_USAGE } from './chain.ts';
import { readCertificate } from './certificate.ts';
import { signCertificate, type Authority } from './sign-certificate.ts';
import { workloadIdUri, type WorkloadId } from './spiffe.ts';

interface LeafRequest {
  readonly validityMs: number;
  readonly now: Date;
}

export interface OperatorRequest extends LeafRequest {
  readonly trustDomain: string;
  /** Names under which sidecars and the API server (webhooks) reach the operator. */
  readonly dnsNames: readonly string[];
}

export interface SidecarRequest extends LeafRequest {
  readonly trustDomain: string;
  readonly namespace: string;
  readonly cluster: string;
  /** Named only where each pod has a certificate of its own. */
  readonly pod?: string;
}

export interface TlsRequest extends LeafRequest {
  readonly commonName: string;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

export function issueOperatorCertificate(ca: Authority, request: OperatorRequest): Promise<Authority> {
  const id: WorkloadId = { kind: 'operator', trustDomain: request.trustDomain };
  return issueLeaf(ca, 'operator', request, [workloadName(ca, id), ...request.dnsNames.map(dnsName)]);
}

export function issueSidecarCertificate(ca: Authority, request: SidecarRequest): Promise<Authority> {
  const { trustDomain, namespace, cluster, pod } = request;
  const id: WorkloadId = { kind: 'sidecar', trustDomain, namespace, cluster, ...(pod !== undefined && { pod }) };
  return issueLeaf(ca, 'sidecar', request, [workloadName(ca, id)]);
}

/** For Valkey's own TLS. Nodes of a cluster are server and client to each other with one certificate. */
export function issueTlsCertificate(ca: Authority, request: TlsRequest): Promise<Authority> {
  const names = [...request.dnsNames.map(dnsName), ...request.ipAddresses.map(ipName)];
  if (names.length === 0) throw new RangeError('a TLS certificate needs a DNS name or an IP address');
  return issueLeaf(ca, request.commonName, request, names);
}

async function issueLeaf(
  ca: Authority,
  commonName: string,
  { now, validityMs }: LeafRequest,
  names: x509.JsonGeneralNames,
): Promise<Authority> {
  const leaf = await signCertificate(
    {
      name: [['CN', commonName]],
      now,
      validityMs,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([EXTENDED_KEY_USAGE.server, EXTENDED_KEY_USAGE.client]),
        new x509.SubjectAlternativeNameExtension(names),
      ],
    },
    ca,
  );
  // A peer knows the root, not the CAs between: they travel with the leaf.
  const { subject, issuer } = readCertificate(ca.certificate);
  return subject === issuer ? leaf : { ...leaf, certificate: leaf.certificate + ca.certificate };
}

function workloadName(ca: Authority, id: WorkloadId): x509.JsonGeneralName {
  const value = workloadIdUri(id);
  const { subject } = readCertificate(ca.certificate);
  if (!isVouchedFor(id, { issuer: subject })) throw new RangeError(`the CA ${subject} does not vouch for ${value}`);
  return { type: 'url', value };
}

const DNS_NAME =
  /^(?=.{1,253}$)(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

function dnsName(value: string): x509.JsonGeneralName {
  if (!DNS_NAME.test(value)) throw new RangeError(`not a DNS name: ${JSON.stringify(value)}`);
  return { type: 'dns', value };
}

function ipName(value: string): x509.JsonGeneralName {
  if (isIP(value) === 0) throw new RangeError(`not an IP address: ${JSON.stringify(value)}`);
  return { type: 'ip', value };
}
