import { ConnectError } from '@connectrpc/connect';
import { readCertificate, type Credentials } from '@valkey-operator/pki/verify';
import { beforeAll, describe, expect, it } from 'vitest';

import { CredentialHolder } from './credential-source.ts';
import { openSession } from './open-session.ts';
import { Installation } from './testing/installation.ts';
import { Loopback } from './testing/loopback.ts';

const hello = { leaderEpoch: 1n };
const command = { timeoutMs: 5000, guard: {}, payload: { case: 'bumpEpoch', value: {} } } as const;
const handlers = { bumpEpoch: { run: async () => undefined } };

let home: Installation;
beforeAll(async () => {
  home = await Installation.create();
});

/** Credentials of a wholly new CA, trusted beside the old one by everyone. */
async function replaceCa(): Promise<{ operator: Credentials; sidecar: Credentials; trustBundle: string }> {
  const next = await Installation.create();
  const trustBundle = home.trustBundle + next.trustBundle;
  const [operator, sidecar] = await Promise.all([next.operator(), next.sidecar()]);
  return { operator: { ...operator, trustBundle }, sidecar: { ...sidecar, trustBundle }, trustBundle };
}

describe('a rotation of certificates', () => {
  it('leaves a session alone that is open on both sides, and is used from the next one on', async () => {
    await using net = new Loopback(home);
    const [operatorCredentials, sidecarCredentials] = [
      new CredentialHolder(await home.operator()),
      new CredentialHolder(await home.sidecar()),
    ];
    const sidecar = await net.sidecar({ handlers }, sidecarCredentials);
    const { client } = net.sidecarChannel(sidecar.url, operatorCredentials);
    const first = await openSession(client, { hello });

    const next = await replaceCa();
    operatorCredentials.publish(next.operator);
    sidecarCredentials.publish(next.sidecar);

    expect((await first.send(command)).outcome.case).toBe('done');
    const second = await openSession(client, { hello });
    expect((await second.send(command)).outcome.case).toBe('done');
    expect((await first.send(command)).outcome.case).toBe('done');
    await Promise.all([first.close(), second.close()]);
    expect(net.reasons()).toEqual([]);

    // The old credentials were really gone: trusting the old CA alone is not enough any more.
    const outdated = net.sidecarChannel(sidecar.url, await home.operator());
    await expect(outdated.client.getStatus({})).rejects.toBeInstanceOf(ConnectError);
    expect(net.reasons()).toContain('UntrustedCertificate');
  });

  it('is seen by the other side with the next unary call', async () => {
    await using net = new Loopback(home);
    const credentials = new CredentialHolder(await home.sidecar());
    const refusing = await net.sidecar();
    const { client } = net.sidecarChannel(refusing.url, credentials);
    await expect(client.getStatus({})).rejects.toThrow('not admitted');
    const renewed = await home.sidecar();
    credentials.publish(renewed);
    await expect(client.getStatus({})).rejects.toThrow('not admitted');
    const seen = net.refusals.map(({ peer }) => peer.certificate?.thumbprint);
    expect(new Set(seen).size).toBe(2);
    expect(seen.at(-1)).toBe(readCertificate(renewed.certificate).thumbprint);
  });
});
