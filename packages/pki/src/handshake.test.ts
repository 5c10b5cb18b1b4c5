import { once } from 'node:events';
import { connect, createServer, type TLSSocket } from 'node:tls';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeAll, describe, expect, it } from 'vitest';

import { createClusterCa, createOperatorCa, createRootCa } from './create-authority.ts';
import { issueOperatorCertificate, issueSidecarCertificate, issueTlsCertificate } from './issue-leaf.ts';
import type { Credentials } from './pem.ts';
import type { Authority } from './sign-certificate.ts';

// What OpenSSL, the judge in every real connection, says to the certificates made here.
const HOUR = 3_600_000;
const trustDomain = 'valkey.test';
const cluster = { trustDomain, namespace: 'a', cluster: 'b' };
const now = new Date();
const shifted = (ms: number) => new Date(now.getTime() + ms);

let root: Authority;
let ca: Authority;
let server: Credentials;
const opened: Array<{ destroy?: () => void; close?: () => void }> = [];

beforeAll(async () => {
  root = await createRootCa({ commonName: 'root', validityMs: 1000 * HOUR, now: shifted(-100 * HOUR) });
  ca = await createClusterCa(root, { ...cluster, validityMs: 900 * HOUR, now: shifted(-100 * HOUR) });
  const operatorCa = await createOperatorCa(root, { trustDomain, validityMs: 900 * HOUR, now });
  server = trusting(
    await issueOperatorCertificate(operatorCa, { trustDomain, dnsNames: ['localhost'], validityMs: HOUR, now }),
  );
});

afterEach(() => {
  for (const { destroy, close } of opened.splice(0)) (destroy ?? close)?.();
});

const trusting = (leaf: Authority, trust: Authority = root): Credentials => ({
  ...leaf,
  trustBundle: trust.certificate,
});
const tlsOptions = ({ certificate, privateKey, trustBundle }: Credentials) =>
  ({ cert: certificate, key: privateKey, ca: trustBundle, minVersion: 'TLSv1.3' }) as const;

/** The identity of the client as the server saw it, or the reason for which one of the two refuses the other. */
async function shakeHands(client: Credentials): Promise<string> {
  // A server that rejects by itself does not tell why; this one looks at OpenSSL's verdict.
  const listener = createServer({ ...tlsOptions(server), requestCert: true, rejectUnauthorized: false });
  listener.listen(0, '127.0.0.1');
  opened.push({ close: () => listener.close() });
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const socket = connect({ ...tlsOptions(client), host: '127.0.0.1', port, servername: 'localhost' });
  opened.push({ destroy: () => socket.destroy() });
  return new Promise((resolve) => {
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(`client: ${error.code}`));
    listener.once('secureConnection', (accepted: TLSSocket) => {
      opened.push({ destroy: () => accepted.destroy() });
      const identity = accepted.getPeerX509Certificate()?.subjectAltName ?? 'nobody';
      resolve(accepted.authorized ? identity : String(accepted.authorizationError));
    });
  });
}

describe('a TLS handshake', () => {
  it('succeeds with a certificate of the cluster, and the server learns who called', async () => {
    const client = await issueSidecarCertificate(ca, { ...cluster, validityMs: HOUR, now });
    expect(await shakeHands(trusting(client))).toBe('URI:spiffe://valkey.test/ns/a/valkeycluster/b/sidecar');
  });

  it('fails for a client of a foreign CA', async () => {
    const foreign = await createRootCa({ commonName: 'root', validityMs: HOUR, now });
    const foreignCa = await createClusterCa(foreign, { ...cluster, validityMs: HOUR, now });
    const client = await issueSidecarCertificate(foreignCa, { ...cluster, validityMs: HOUR, now });
    expect(await shakeHands(trusting(client))).toMatch(/UNABLE_TO_VERIFY|SIGNATURE|UNABLE_TO_GET_ISSUER/);
  });

  it('fails for a client that trusts another CA than the server’s', async () => {
    const foreign = await createRootCa({ commonName: 'root', validityMs: HOUR, now });
    const client = await issueSidecarCertificate(ca, { ...cluster, validityMs: HOUR, now });
    expect(await shakeHands(trusting(client, foreign))).toMatch(/^client: (SELF_SIGNED|UNABLE_TO|CERT_SIGNATURE)/);
  });

  it('fails with a certificate that has ended', async () => {
    const client = await issueSidecarCertificate(ca, { ...cluster, validityMs: HOUR, now: shifted(-2 * HOUR) });
    expect(await shakeHands(trusting(client))).toBe('CERT_HAS_EXPIRED');
  });

  it('fails with a certificate that has not begun', async () => {
    const client = await issueSidecarCertificate(ca, { ...cluster, validityMs: HOUR, now: shifted(2 * HOUR) });
    expect(await shakeHands(trusting(client))).toBe('CERT_NOT_YET_VALID');
  });

  it('fails with a certificate that another leaf has signed', async () => {
    const leaf = await issueSidecarCertificate(ca, { ...cluster, validityMs: HOUR, now });
    const names = { commonName: 'x', dnsNames: ['x'], ipAddresses: [] };
    const client = await issueTlsCertificate(leaf, { ...names, validityMs: HOUR, now });
    expect(await shakeHands(trusting(client))).toMatch(/^(INVALID_CA|UNSPECIFIED)$/);
  });

  it('cannot even begin with the key of another certificate', async () => {
    const client = await issueSidecarCertificate(ca, { ...cluster, validityMs: HOUR, now });
    await expect(shakeHands({ ...trusting(client), privateKey: ca.privateKey })).rejects.toThrow('key values mismatch');
  });
});
