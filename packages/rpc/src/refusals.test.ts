import { once } from 'node:events';
import { connect } from 'node:http2';

import { Code, ConnectError } from '@connectrpc/connect';
import { readCertificate } from '@valkey-operator/pki/verify';
import { beforeAll, describe, expect, it } from 'vitest';

import { CredentialHolder } from './credential-source.ts';
import { HOUR, Installation } from './testing/installation.ts';
import { Loopback, pod } from './testing/loopback.ts';

const heartbeat = { report: { pod } };
const before = new Date(Date.now() - 2 * HOUR);
const later = new Date(Date.now() + 2 * HOUR);

let home: Installation;
let foreign: Installation;

beforeAll(async () => {
  [home, foreign] = await Promise.all([Installation.create(), Installation.create()]);
});

describe('the operator’s gateway', () => {
  it('answers a sidecar with the certificate of its cluster and its own token', async () => {
    await using net = new Loopback(home);
    const { client } = net.operatorChannel(await net.gateway(), await home.sidecar());
    expect((await client.heartbeat(heartbeat)).guidance?.leaderEpoch).toBe(7n);
    expect(net.calls).toEqual(['vc-0']);
    expect(net.reasons()).toEqual([]);
  });

  it.each([
    [
      'of a foreign CA',
      'UntrustedCertificate',
      async () => ({ ...(await foreign.sidecar()), trustBundle: home.trustBundle }),
    ],
    ['that has ended', 'ExpiredCertificate', () => home.sidecar({ now: before })],
    ['that has not begun', 'CertificateNotYetValid', () => home.sidecar({ now: later })],
  ])('cuts off a caller with a certificate %s', async (_, reason, credentials) => {
    await using net = new Loopback(home);
    const { client } = net.operatorChannel(await net.gateway(), await credentials());
    await expect(client.heartbeat(heartbeat)).rejects.toBeInstanceOf(ConnectError);
    expect(net.reasons()).toEqual([reason]);
    expect(net.calls).toEqual([]);
  });

  it('cuts off a caller without a certificate', async () => {
    await using net = new Loopback(home);
    const session = connect(await net.gateway(), { ca: home.trustBundle, checkServerIdentity: () => undefined });
    await once(session, 'close');
    expect(net.reasons()).toEqual(['NoCertificate']);
  });

  it.each([
    ['the operator itself', () => home.operator()],
    ['a sidecar of another trust domain', () => home.sidecar({ domain: 'other.test' })],
  ])('denies %s', async (_, credentials) => {
    await using net = new Loopback(home);
    const { client } = net.operatorChannel(await net.gateway(), await credentials());
    await expect(client.heartbeat(heartbeat)).rejects.toMatchObject({ code: Code.PermissionDenied });
    expect(net.reasons()).toEqual(['WrongIdentity']);
    expect(net.calls).toEqual([]);
  });

  it.each([
    ['no token', '', Code.Unauthenticated, 'NoToken'],
    ['an unknown token', 'made-up', Code.Unauthenticated, 'InvalidToken'],
    ['the token of another pod of the cluster', 'neighbour', Code.PermissionDenied, 'ForeignToken'],
    ['the token of a pod of another cluster', 'otherCluster', Code.PermissionDenied, 'ForeignToken'],
    [
      'the token of a pod of the same name in another namespace',
      'otherNamespace',
      Code.PermissionDenied,
      'ForeignToken',
    ],
  ])('denies the right certificate with %s', async (_, token, code, reason) => {
    await using net = new Loopback(home);
    const { client } = net.operatorChannel(await net.gateway(), await home.sidecar(), token);
    await expect(client.heartbeat(heartbeat)).rejects.toMatchObject({ code });
    expect(net.reasons()).toEqual([reason]);
    expect(net.calls).toEqual([]);
  });

  it.each([
    ['of another pod', { ...pod, name: 'vc-1' }],
    ['of the pod that had its name before', { ...pod, uid: 'uid-9' }],
    ['of another cluster', { ...pod, cluster: 'other' }],
    ['of another namespace', { ...pod, namespace: 'elsewhere' }],
    ['of nobody', undefined],
  ])('denies a report %s', async (_, claimed) => {
    await using net = new Loopback(home);
    const { client } = net.operatorChannel(await net.gateway(), await home.sidecar());
    const report = claimed ? { pod: claimed } : {};
    await expect(client.heartbeat({ report })).rejects.toMatchObject({ code: Code.PermissionDenied });
    await expect(client.reportEvent({ report })).rejects.toMatchObject({ code: Code.PermissionDenied });
    expect(net.reasons()).toEqual(['ForeignToken', 'ForeignToken']);
    expect(net.calls).toEqual([]);
  });

  it('needs no token where SPIRE gives each pod a certificate, and lets it speak for that pod only', async () => {
    await using net = new Loopback(home);
    const url = await net.gateway({ identity: 'spire' });
    const { client } = net.operatorChannel(url, await home.sidecar({ pod: 'vc-0' }), '');
    await client.heartbeat(heartbeat);
    expect(net.calls).toEqual(['vc-0']);
    const neighbour = { report: { pod: { ...pod, name: 'vc-1' } } };
    await expect(client.heartbeat(neighbour)).rejects.toMatchObject({ code: Code.PermissionDenied });
    const shared = net.operatorChannel(url, await home.sidecar());
    await expect(shared.client.heartbeat(heartbeat)).rejects.toMatchObject({ code: Code.PermissionDenied });
    expect(net.reasons()).toEqual(['ForeignToken', 'WrongIdentity']);
  });

  it('does not let a certificate that names a pod stand for a token otherwise', async () => {
    await using net = new Loopback(home);
    const { client } = net.operatorChannel(await net.gateway(), await home.sidecar({ pod: 'vc-0' }));
    await expect(client.heartbeat(heartbeat)).rejects.toMatchObject({ code: Code.PermissionDenied });
    expect(net.reasons()).toEqual(['WrongIdentity']);
  });

  it('denies a replaced certificate when its grace period is over', async () => {
    await using net = new Loopback(home);
    const old = await home.sidecar();
    const { thumbprint } = readCertificate(old.certificate);
    const url = await net.gateway({ isSuperseded: (certificate) => certificate.thumbprint === thumbprint });
    await net.operatorChannel(url, await home.sidecar()).client.heartbeat(heartbeat);
    const { client } = net.operatorChannel(url, old);
    await expect(client.heartbeat(heartbeat)).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect(net.reasons()).toEqual(['SupersededCertificate']);
  });

  it('asks to come again, and accuses nobody, while tokens cannot be reviewed', async () => {
    await using net = new Loopback(home);
    const url = await net.gateway({ tokens: { verify: () => Promise.reject(new Error('API server is down')) } });
    const { client } = net.operatorChannel(url, await home.sidecar());
    await expect(client.heartbeat(heartbeat)).rejects.toMatchObject({ code: Code.Unavailable });
    expect(net.reasons()).toEqual([]);
  });

  it('denies the next call on a connection whose certificate has ended meanwhile', async () => {
    await using net = new Loopback(home);
    const { client } = net.operatorChannel(await net.gateway(), await home.sidecar());
    await client.heartbeat(heartbeat);
    net.now = () => later;
    await expect(client.heartbeat(heartbeat)).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect(net.reasons()).toEqual(['ExpiredCertificate']);
    expect(net.calls).toEqual(['vc-0']);
  });
});

describe('a sidecar', () => {
  it.each([
    ['another sidecar of its cluster', () => home.sidecar()],
    ['the operator of another trust domain', () => home.operator({ domain: 'other.test' })],
  ])('denies %s', async (_, credentials) => {
    await using net = new Loopback(home);
    const { client } = net.sidecarChannel((await net.sidecar()).url, await credentials());
    await expect(client.getStatus({})).rejects.toMatchObject({ code: Code.PermissionDenied });
    expect(net.reasons()).toEqual(['WrongIdentity']);
  });

  it('cuts off the operator of a foreign installation', async () => {
    await using net = new Loopback(home);
    const stranger = { ...(await foreign.operator()), trustBundle: home.trustBundle };
    const { client } = net.sidecarChannel((await net.sidecar()).url, stranger);
    await expect(client.getStatus({})).rejects.toBeInstanceOf(ConnectError);
    expect(net.reasons()).toEqual(['UntrustedCertificate']);
  });
});

describe('a caller', () => {
  it.each([
    ['a server of a foreign CA', 'UntrustedCertificate', () => foreign.sidecar()],
    ['a server whose certificate has ended', 'ExpiredCertificate', () => home.sidecar({ now: before })],
    ['a sidecar of another cluster', 'WrongIdentity', () => home.sidecar({ cluster: 'other' })],
    ['a server that is no sidecar', 'WrongIdentity', () => home.operator()],
  ])('does not talk to %s', async (_, reason, credentials) => {
    await using net = new Loopback(home);
    const { url } = await net.sidecar({}, new CredentialHolder(await credentials()));
    const { client } = net.sidecarChannel(url, await home.operator());
    await expect(client.getStatus({})).rejects.toBeInstanceOf(ConnectError);
    expect(net.reasons()).toContain(reason);
  });
});
