import { childMetadata } from '@valkey-operator/core';
import type { EffectiveClusterSpec, ValkeyCluster } from '@valkey-operator/api';
import type { Live, Secret } from '@valkey-operator/kube';
import type { Authority } from '@valkey-operator/pki';

/** A cluster with its effective spec, which says what its children carry. */
export interface CertificateOwner {
  metadata: ValkeyCluster['metadata'];
  spec: EffectiveClusterSpec;
}

export function buildCertificateSecret(owner: CertificateOwner, name: string, pair: Authority, root: string): Secret {
  return { ...certificatePair(pair, root), metadata: childMetadata(owner, name) };
}

/** Under the names that every consumer of a TLS Secret looks for. */
export function certificatePair(pair: Authority, root: string) {
  const data = encode({ 'tls.crt': pair.certificate, 'tls.key': pair.privateKey, 'ca.crt': root });
  return { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', data } as const;
}

export function readAuthority(secret: Secret): Authority | undefined {
  const [certificate, privateKey] = [readPem(secret, 'tls.crt'), readPem(secret, 'tls.key')];
  return certificate && privateKey ? { certificate, privateKey } : undefined;
}

export function readPem({ data }: Secret, key: 'tls.crt' | 'tls.key' | 'ca.crt'): string | undefined {
  const value = data?.[key];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}

/** What a cache may keep of a Secret: nothing that is secret. Private keys are read when they are needed, and only then. */
export function keepCertificates({ apiVersion, kind, metadata, type, data = {} }: Live<Secret>): Live<Secret> {
  const { managedFields: _, ...kept } = metadata;
  const open = Object.entries(data).filter(([key]) => key === 'tls.crt' || key === 'ca.crt');
  return { apiVersion, kind, metadata: kept, ...(type && { type }), data: Object.fromEntries(open) };
}

function encode(values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
}
