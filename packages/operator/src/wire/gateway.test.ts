import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeClient } from '@valkey-operator/kube';
import { FakeApi, json } from '@valkey-operator/kube/testing';
import { CredentialHolder } from '@valkey-operator/rpc/operator';
import { connectToOperator, findNotLeader } from '@valkey-operator/rpc/sidecar';
import type { Credentials } from '@valkey-operator/pki/verify';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createMetrics } from '../metrics.ts';
import { aReport, FakeLeadership, namespace } from '../testing/builders.ts';
import { Certificates, trustDomain } from '../testing/certificates.ts';
import { createGateway, type GatewayOptions } from './gateway.ts';

let certificates: Certificates;
beforeAll(async () => {
  certificates = await Certificates.create();
});

/** What the API server says of a token: the name of the pod it is bound to, and of its service account. */
function tokenApi(): FakeApi {
  const api = new FakeApi();
  api.intercept = ({ body }) => {
    const { token, audiences } = JSON.parse(body ?? '').spec;
    const [serviceAccount, pod] = String(token).split(' ');
    const bound = pod && {
      'authentication.kubernetes.io/pod-name': [pod],
      'authentication.kubernetes.io/pod-uid': [`${pod}-uid`],
    };
    const user = { username: `system:serviceaccount:${namespace}:${serviceAccount}`, extra: bound };
    return json(201, { status: { authenticated: serviceAccount !== 'nobody', audiences, user } });
  };
  return api;
}

async function aGateway(overrides: Partial<GatewayOptions> = {}) {
  const heard: string[] = [];
  const refused: string[] = [];
  const api = tokenApi();
  const gateway = createGateway({
    client: new KubeClient({ transport: api.transport }),
    credentials: new CredentialHolder(await certificates.operator()),
    trustDomain,
    version: '1.2.3',
    leadership: () => new FakeLeadership(),
    onReport: (report, kind) => heard.push(`${kind} of ${report.pod?.name}`),
    isSuperseded: () => false,
    onRefused: ({ reason }) => refused.push(reason),
    metrics: createMetrics(),
    ...overrides,
  });
  const { port } = await gateway.listen(0, '127.0.0.1');
  onTestFinished(() => gateway.close());
  const call = async (token = 'demo-valkey demo-0', credentials?: Credentials) => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-'));
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, token);
    const { client, close } = connectToOperator({
      url: `https://127.0.0.1:${port}`,
      credentials: new CredentialHolder(credentials ?? (await certificates.sidecar('demo'))),
      trustDomain,
      tokenFile,
      onRefused: () => {},
    });
    onTestFinished(() => {
      close();
      rmSync(folder, { recursive: true });
    });
    return client;
  };
  return { call, heard, refused, api };
}

describe('the gateway', () => {
  test('hears the heartbeat of a pod that proves who it is, and says who leads', async () => {
    const { call, heard } = await aGateway();
    const { guidance } = await (await call()).heartbeat({ report: aReport({ readiness: { ready: true } }) });
    expect(heard).toEqual(['heartbeat of demo-0']);
    expect(guidance).toMatchObject({ operatorVersion: '1.2.3', leaderEpoch: 7n });
    expect(guidance?.stayConnected).toBeUndefined();
  });

  test('asks a node that is not ready to expect a session', async () => {
    const { call } = await aGateway();
    const { guidance } = await (await call()).heartbeat({ report: aReport() });
    expect(guidance?.stayConnected?.seconds).toBe(30n);
  });

  test('tells an event from a heartbeat', async () => {
    const { call, heard } = await aGateway();
    const event = { id: 'e', kind: { case: 'valkeyExited' as const, value: {} } };
    await (await call()).reportEvent({ event, report: aReport() });
    expect(heard).toEqual(['event of demo-0']);
  });

  test('asks the API server once for a token that comes every minute', async () => {
    const { call, api } = await aGateway();
    const client = await call();
    await client.heartbeat({ report: aReport() });
    await client.heartbeat({ report: aReport({ sequence: 2n }) });
    expect(api.requests).toHaveLength(1);
  });

  test('says that it does not lead, and hears nothing, when another does', async () => {
    const { call, heard } = await aGateway({ leadership: () => undefined });
    const error = await (await call()).heartbeat({ report: aReport() }).catch((thrown: unknown) => thrown);
    expect(findNotLeader(error)).toBeDefined();
    expect(heard).toEqual([]);
  });

  test.each([
    ['of another pod', 'demo-valkey demo-1', 'ForeignToken', 'the caller is demo-1'],
    ['of another cluster', 'other-valkey demo-0', 'ForeignToken', 'no pod of apps/demo'],
    ['that the API server does not vouch for', 'nobody demo-0', 'InvalidToken', 'the token is not valid'],
    ['that is bound to no pod', 'demo-valkey', 'InvalidToken', 'the token is not valid'],
  ])('refuses the right certificate with a token %s', async (_, token, reason, message) => {
    const { call, heard, refused } = await aGateway();
    await expect((await call(token)).heartbeat({ report: aReport() })).rejects.toThrow(message);
    expect([refused, heard]).toEqual([[reason], []]);
  });

  test('refuses the right token with the certificate of another cluster', async () => {
    const { call, refused } = await aGateway();
    const client = await call('demo-valkey demo-0', await certificates.sidecar('other'));
    await expect(client.heartbeat({ report: aReport() })).rejects.toThrow('no pod of apps/other');
    expect(refused).toEqual(['ForeignToken']);
  });

  test('refuses a certificate that was replaced too long ago', async () => {
    const { call, refused } = await aGateway({ isSuperseded: () => true });
    await expect((await call()).heartbeat({ report: aReport() })).rejects.toThrow('replaced');
    expect(refused).toEqual(['SupersededCertificate']);
  });
});
