import { type CertificateFacts, readCertificate } from '@valkey-operator/pki/verify';
import { beforeAll, describe, expect, test } from 'vitest';
import { aCluster, effectiveSpec, namespace } from '../testing/builders.ts';
import { Certificates, trustDomain } from '../testing/certificates.ts';
import { buildCertificateSecret } from './certificate-secret.ts';
import { createSupersededCheck } from './superseded.ts';

const MINUTE = 60_000;
const sidecar = { kind: 'sidecar', trustDomain, namespace, cluster: 'demo' } as const;
const issuedAt = Date.now() - 20 * MINUTE;
let old: CertificateFacts;
let active: CertificateFacts;
let isSuperseded: (certificate: CertificateFacts, afterMinutes: number) => boolean;

beforeAll(async () => {
  const certificates = await Certificates.create();
  const replaced = await certificates.sidecar('demo', new Date(issuedAt - 30 * MINUTE));
  const current = await certificates.sidecar('demo', new Date(issuedAt));
  old = readCertificate(replaced.certificate);
  active = readCertificate(current.certificate);
  const owner = { metadata: aCluster().metadata, spec: effectiveSpec };
  const secret = buildCertificateSecret(owner, 'demo-sidecar-mtls', current, certificates.root);
  const secrets = { get: ({ name }: { name: string }) => (name === secret.metadata.name ? secret : undefined) };
  isSuperseded = (certificate, afterMinutes) =>
    createSupersededCheck(secrets, () => new Date(issuedAt + afterMinutes * MINUTE))(certificate, sidecar);
});

describe('a certificate that has been replaced', () => {
  test('is welcome for the grace period, and not after it', () => {
    expect([0, 8, 11].map((minutes) => isSuperseded(old, minutes))).toEqual([false, false, true]);
  });

  test('is told from the one in use, and from one newer than this operator knows of', () => {
    expect(isSuperseded(active, 30)).toBe(false);
    expect(isSuperseded({ ...old, notBefore: new Date(issuedAt + MINUTE) }, 30)).toBe(false);
  });

  test('cannot be told while the Secret is not known', () => {
    const check = createSupersededCheck({ get: () => undefined });
    expect(check(old, sidecar)).toBe(false);
  });
});
