import { ConnectError } from '@connectrpc/connect';
import type { Credentials } from '@valkey-operator/pki/verify';
import { beforeAll, describe, expect, it } from 'vitest';

import type { CredentialSource } from './credential-source.ts';
import { SidecarService } from './gen/valkey/sidecar/v1/sidecar_service_pb.ts';
import { findNotLeader, notLeaderError } from './not-leader.ts';
import { createRpcChannel } from './rpc-channel.ts';
import { HOUR, Installation } from './testing/installation.ts';
import { Loopback, pod } from './testing/loopback.ts';

let home: Installation;
beforeAll(async () => {
  home = await Installation.create();
});

/** A channel reads the credentials once for each connection it opens. */
function counting(credentials: Credentials): CredentialSource & { opened: number } {
  return {
    opened: 0,
    current() {
      this.opened++;
      return credentials;
    },
    subscribe: () => () => undefined,
  };
}

describe('a channel', () => {
  it('uses one connection for all calls until that has reached its age', async () => {
    await using net = new Loopback(home);
    const { url } = await net.sidecar();
    const credentials = counting(await home.operator());
    const clock = { now: new Date() };
    const { client, close } = createRpcChannel(SidecarService, {
      url,
      credentials,
      admits: ({ kind }) => kind === 'sidecar',
      onRefused: net.onRefused,
      now: () => clock.now,
    });
    await client.getStatus({});
    await Promise.all([client.getStatus({}), client.getStatus({})]);
    expect(credentials.opened).toBe(1);
    clock.now = new Date(clock.now.getTime() + HOUR / 2 + 1);
    await client.getStatus({});
    expect(credentials.opened).toBe(2);
    close();
  });

  it('fails calls while nobody listens, and works again when somebody does', async () => {
    await using net = new Loopback(home);
    const gone = await net.sidecar();
    const { client } = net.sidecarChannel(gone.url, await home.operator());
    await gone.close();
    await expect(client.getStatus({})).rejects.toThrow('ECONNREFUSED');
    await net.sidecar({}, undefined, Number(new URL(gone.url).port));
    expect((await client.getStatus({})).report?.pod?.name).toBe('vc-0');
    expect(net.reasons()).toEqual([]);
  });

  it('to a replica that is not the leader learns who is', async () => {
    await using net = new Loopback(home);
    net.onHeartbeat = () => {
      throw notLeaderError('operator-1');
    };
    const { client } = net.operatorChannel(await net.gateway(), await home.sidecar());
    const error = await client.heartbeat({ report: { pod } }).catch((reason: unknown) => reason);
    expect(findNotLeader(error)?.leader).toBe('operator-1');
    expect(findNotLeader(new ConnectError('gone'))).toBeUndefined();
  });
});
