import { Lab } from '@valkey-operator/lab';
import { createClusterCa, createRootCa, issueSidecarCertificate } from '@valkey-operator/pki';
import { type Credentials, readCertificate } from '@valkey-operator/pki/verify';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createRestrictedNamespace, TestCluster } from '../support/test-cluster.ts';
import { OPERATOR_NAMESPACE, Operators } from './support/operators.ts';
import {
  beat,
  type Caller,
  createCaller,
  credentialsOfOperator,
  greet,
  readPair,
  requestToken,
  trustDomain,
} from './support/wire-caller.ts';

/** Who may speak to whom (E5). */
const namespace = 'operator-wire';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const operators = new Operators(lab, client);
const cluster = new TestCluster(lab, client, namespace, 'wire');
let caller: Caller;
const HOUR_MS = 3_600_000;
const POLL = { timeout: 60_000, interval: 250 };

beforeAll(async () => {
  await createRestrictedNamespace(lab, namespace);
  await operators.restart(2);
  await cluster.apply({ replicasPerMaster: 0 });
  await cluster.waitUntilReady();
  caller = await createCaller(cluster);
});

afterAll(async () => {
  await lab.kubectl(['delete', 'namespace', namespace, '--wait=false']);
  await lab.kubectl(['-n', OPERATOR_NAMESPACE, 'scale', 'deployment/valkey-operator', '--replicas=1']);
});

async function leadingPod() {
  return operators.get((await operators.leader()).pod);
}

describe('the gateway', () => {
  const account = { namespace, name: 'wire-valkey' };
  const id = { trustDomain, namespace, cluster: 'wire' };
  const life = () => ({ validityMs: HOUR_MS, now: new Date() });
  const own = () => readPair(client, namespace, 'wire-sidecar-mtls');
  const root = () => readPair(client, OPERATOR_NAMESPACE, 'valkey-root-ca-cert');
  const ownToken = () => requestToken(client, account, caller);

  test('hears a pod with the certificate of its cluster and its own token', async () => {
    const leader = await leadingPod();
    const heard = () => operators.metric(leader, 'valkey_operator_heartbeats_total');
    const before = await heard();
    await beat(leader.status!.podIP!, await own(), await ownToken(), caller);
    expect(await heard()).toBeGreaterThan(before);
  });

  const strangers: [string, string, () => Promise<{ credentials: Credentials; token: string }>][] = [
    [
      'no certificate',
      'NoCertificate',
      async () => ({ credentials: { ...(await own()), certificate: '', privateKey: '' }, token: await ownToken() }),
    ],
    [
      'a certificate of a foreign CA',
      'UntrustedCertificate',
      async () => {
        const foreignRoot = await createRootCa({ commonName: 'valkey-operator root', ...life() });
        const ca = await createClusterCa(foreignRoot, { ...id, ...life() });
        const leaf = await issueSidecarCertificate(ca, { ...id, ...life() });
        return { credentials: { ...leaf, trustBundle: (await root()).certificate }, token: await ownToken() };
      },
    ],
    [
      'an expired certificate',
      'ExpiredCertificate',
      async () => {
        const ca = await readPair(client, namespace, 'wire-ca');
        const now = new Date(readCertificate(ca.certificate).notBefore.getTime() + 1000);
        const leaf = await issueSidecarCertificate(ca, { ...id, now, validityMs: 2000 });
        return { credentials: { ...leaf, trustBundle: ca.trustBundle }, token: await ownToken() };
      },
    ],
    [
      'a certificate with the id of the operator',
      'WrongIdentity',
      async () => ({ credentials: await credentialsOfOperator(client), token: await ownToken() }),
    ],
    [
      'the certificate of another cluster',
      'ForeignToken',
      async () => {
        const other = { ...id, cluster: 'other' };
        const ca = await createClusterCa(await root(), { ...other, ...life() });
        const leaf = await issueSidecarCertificate(ca, { ...other, ...life() });
        return { credentials: { ...leaf, trustBundle: (await root()).certificate }, token: await ownToken() };
      },
    ],
    [
      'the right certificate and the token of another pod',
      'ForeignToken',
      async () => {
        const [pod] = await cluster.pods();
        const { name, uid } = pod!.metadata;
        return { credentials: await own(), token: await requestToken(client, account, { name, uid: uid! }) };
      },
    ],
    [
      'the right certificate and a token for another audience',
      'InvalidToken',
      async () => ({ credentials: await own(), token: await requestToken(client, account, caller, 'somebody-else') }),
    ],
  ];

  test.each(strangers)(
    'refuses a caller with %s, counts it each time and logs it once',
    async (_, reason, disguise) => {
      const leader = await leadingPod();
      const counted = () => operators.metric(leader, 'valkey_operator_peers_refused_total', `"${reason}"`);
      const logged = async () =>
        (await operators.log(leader.metadata.name)).filter(
          (line) => line.msg === 'peer refused' && line.reason === reason,
        );
      const [countBefore, linesBefore] = [await counted(), (await logged()).length];
      const { credentials, token } = await disguise();
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        await expect(beat(leader.status!.podIP!, credentials, token, caller)).rejects.toThrow(/./);
      }
      await expect.poll(counted, POLL).toBe(countBefore + 3);
      expect(await logged()).toHaveLength(linesBefore + 1);
    },
  );

  test('of a standby says that it does not lead', async () => {
    const { pod: leader } = await operators.leader();
    const standby = (await operators.list()).find(({ metadata }) => metadata.name !== leader)!;
    const answer = beat(standby.status!.podIP!, await own(), await ownToken(), caller);
    await expect(answer).rejects.toThrow('not the leader');
  });
});

describe('a sidecar', () => {
  test('takes orders from nobody but the operator, not even from another sidecar of its cluster', async () => {
    const credentials = await readPair(client, namespace, 'wire-sidecar-mtls');
    await expect(greet(cluster, (await operators.leader()).epoch, credentials)).rejects.toThrow('is not admitted');
  });
});
