import * as x509 from './x509.ts';
import { beforeAll, describe, expect, it } from 'vitest';

import { readCertificate, readCertificates } from './certificate.ts';
import { createClusterCa, createOperatorCa, createRootCa } from './create-authority.ts';
import { issueOperatorCertificate, issueSidecarCertificate, issueTlsCertificate } from './issue-leaf.ts';
import { bundleCertificates, splitCertificates } from './pem.ts';
import { signCertificate, type Authority } from './sign-certificate.ts';
import { validateCredentials, type CredentialExpectation } from './validate-credentials.ts';

const now = new Date('2026-06-01T12:00:00Z');
const HOUR = 3_600_000;
const trustDomain = 'valkey.test';
const cluster = { trustDomain, namespace: 'a', cluster: 'b' };
const operatorUri = `spiffe://${trustDomain}/operator`;
const after = (ms: number) => new Date(now.getTime() + ms);
const server = { commonName: 'x', dnsNames: ['x'], ipAddresses: [], validityMs: HOUR, now };
const both: CredentialExpectation = { now, purposes: ['server', 'client'] };

let root: Authority;
let ca: Authority;
let operatorCa: Authority;
let operator: Authority;

beforeAll(async () => {
  root = await createRootCa({ commonName: 'root', validityMs: 1000 * HOUR, now });
  ca = await createClusterCa(root, { ...cluster, validityMs: 100 * HOUR, now });
  operatorCa = await createOperatorCa(root, { trustDomain, validityMs: 100 * HOUR, now });
  operator = await issueOperatorCertificate(operatorCa, {
    trustDomain,
    dnsNames: ['operator.valkey.svc'],
    validityMs: HOUR,
    now,
  });
});

const check = (leaf: Authority, expected: Partial<CredentialExpectation> = {}, trustBundle = root.certificate) =>
  validateCredentials({ ...leaf, trustBundle }, { ...both, ...expected });

describe('credentials as issued', () => {
  it('are good for the operator, its SPIFFE id and its names', () => {
    const verdict = check(operator, { spiffeId: operatorUri, dnsNames: ['operator.valkey.svc'] });
    expect(verdict).toMatchObject({ ok: true, validUntil: after(HOUR), leaf: { uris: [operatorUri], isCa: false } });
  });

  it('are good for the sidecars of one cluster and for no other', async () => {
    const sidecar = await issueSidecarCertificate(ca, {
      trustDomain,
      namespace: 'a',
      cluster: 'b',
      validityMs: HOUR,
      now,
    });
    expect(check(sidecar, { spiffeId: `spiffe://${trustDomain}/ns/a/valkeycluster/b/sidecar` }).ok).toBe(true);
    expect(check(sidecar, { spiffeId: `spiffe://${trustDomain}/ns/a/valkeycluster/c/sidecar` })).toMatchObject({
      problem: 'WrongIdentity',
    });
  });

  it('cover the DNS names, wildcards and addresses of a Valkey server', async () => {
    const names = { dnsNames: ['*.nodes.ns.svc', 'vk.ns.svc'], ipAddresses: ['10.0.0.1', 'fd00::1'] };
    const leaf = await issueTlsCertificate(ca, { ...server, ...names });
    expect(check(leaf, { dnsNames: ['vk-0.nodes.ns.svc', 'vk.ns.svc'], ipAddresses: names.ipAddresses }).ok).toBe(true);
    expect(check(leaf, { dnsNames: ['vk.other.svc'], ipAddresses: ['10.0.0.2'] })).toMatchObject({
      problem: 'MissingName',
      message: 'does not cover vk.other.svc, 10.0.0.2',
    });
  });

  it('end no later than the CA that signed them', async () => {
    const leaf = await issueTlsCertificate(ca, { ...server, validityMs: 10_000 * HOUR });
    expect(readCertificate(leaf.certificate).notAfter).toEqual(after(100 * HOUR));
  });

  it('are not made from names that would be something else in a certificate', () => {
    const request = { ...server, dnsNames: [] };
    expect(() => issueTlsCertificate(ca, { ...request, dnsNames: ['x,DNS:evil'] })).toThrow('not a DNS name');
    expect(() => issueTlsCertificate(ca, { ...request, ipAddresses: ['10.0.0'] })).toThrow('not an IP address');
    expect(() => issueTlsCertificate(ca, request)).toThrow('needs a DNS name or an IP address');
  });

  it('are not made by the CA of somebody else', () => {
    const life = { validityMs: HOUR, now };
    const operatorRequest = { trustDomain, dnsNames: [], ...life };
    expect(() => issueOperatorCertificate(ca, operatorRequest)).toThrow('does not vouch for');
    expect(() => issueSidecarCertificate(operatorCa, { ...cluster, ...life })).toThrow('does not vouch for');
    expect(() => issueSidecarCertificate(ca, { ...cluster, cluster: 'c', ...life })).toThrow('does not vouch for');
    expect(() => issueSidecarCertificate(ca, { ...cluster, namespace: 'c', ...life })).toThrow('does not vouch for');
  });

  it('are not made by a CA that has ended', async () => {
    const later = after(200 * HOUR);
    await expect(
      issueOperatorCertificate(operatorCa, { trustDomain, dnsNames: [], validityMs: HOUR, now: later }),
    ).rejects.toThrow('is not valid at');
  });
});

describe('credentials are refused', () => {
  it('when the key is of another certificate', () => {
    expect(check({ ...operator, privateKey: ca.privateKey })).toMatchObject({ problem: 'KeyMismatch' });
  });

  it('after their end and before their beginning, with some room for clocks that differ', () => {
    expect(check(operator, { now: after(HOUR + 1000) })).toMatchObject({ problem: 'Expired' });
    expect(check(operator, { now: after(-HOUR) })).toMatchObject({ problem: 'NotYetValid' });
    expect(check(operator, { now: after(-30_000) }).ok).toBe(true);
  });

  it('when the CA of a foreign installation has the same name', async () => {
    const foreign = await createRootCa({ commonName: 'root', validityMs: HOUR, now });
    expect(check(operator, {}, foreign.certificate)).toMatchObject({ problem: 'UntrustedChain' });
  });

  it('when the intermediate is missing from the chain, also if it is trusted without its root', () => {
    const [leafOnly = ''] = splitCertificates(operator.certificate);
    expect(check({ ...operator, certificate: leafOnly })).toMatchObject({ problem: 'UntrustedChain' });
    expect(check({ ...operator, certificate: leafOnly }, {}, ca.certificate)).toMatchObject({
      problem: 'UntrustedChain',
    });
  });

  it('when a leaf has been used as a CA', async () => {
    const forged = await issueTlsCertificate(operator, server);
    expect(check(forged)).toMatchObject({ problem: 'InvalidIssuer', message: expect.stringContaining('is not a CA') });
  });

  it('when a CA of a cluster has made a CA of its own', async () => {
    const below = await createOperatorCa(ca, { trustDomain, validityMs: HOUR, now });
    const chained = { ...below, certificate: below.certificate + ca.certificate };
    const leaf = await issueOperatorCertificate(chained, { trustDomain, dnsNames: [], validityMs: HOUR, now });
    expect(check(leaf)).toMatchObject({
      problem: 'InvalidIssuer',
      message: expect.stringContaining('allows 0 CAs below'),
    });
  });

  it('when they are themselves those of a CA', () => {
    expect(check(ca)).toMatchObject({ problem: 'WrongUsage' });
  });

  it('when they are for clients only and shall serve', async () => {
    const extensions = [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])];
    const client = await signCertificate({ name: [['CN', 'c']], now, validityMs: HOUR, extensions }, root);
    expect(check(client, { purposes: ['client'] }).ok).toBe(true);
    expect(check(client, { purposes: ['server'] })).toMatchObject({ problem: 'WrongUsage' });
  });

  it('when they carry a second identity beside the right one', async () => {
    const names = [operatorUri, `spiffe://${trustDomain}/other`].map((value) => ({ type: 'url' as const, value }));
    const extensions = [new x509.SubjectAlternativeNameExtension(names)];
    const twofold = await signCertificate({ name: [['CN', 'c']], now, validityMs: HOUR, extensions }, root);
    expect(check(twofold, { spiffeId: operatorUri })).toMatchObject({ problem: 'WrongIdentity' });
  });

  it.each([
    ['an empty certificate', { certificate: '' }],
    ['a key that is none', { privateKey: 'secret' }],
    ['an empty CA', { trustBundle: '' }],
    ['a cut certificate', { certificate: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----' }],
  ])('when they are incomplete: %s', (_, part) => {
    const verdict = validateCredentials({ ...operator, trustBundle: root.certificate, ...part }, both);
    expect(verdict).toMatchObject({ problem: 'Unreadable' });
  });
});

describe('a CA change', () => {
  it('bundles old and new, trusts leaves of both, and drops what has expired or is there twice', async () => {
    const next = await createRootCa({ commonName: 'root', validityMs: 2000 * HOUR, now });
    const renewed = await issueTlsCertificate(next, server);
    const bundle = bundleCertificates([root.certificate, next.certificate + root.certificate], now);
    expect(readCertificates(bundle)).toHaveLength(2);
    expect(check(operator, {}, bundle).ok).toBe(true);
    expect(check(renewed, {}, bundle).ok).toBe(true);
    expect(bundleCertificates([bundle], after(1500 * HOUR))).toBe(next.certificate);
  });
});
