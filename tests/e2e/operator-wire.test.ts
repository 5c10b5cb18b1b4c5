import { pods } from '@valkey-operator/kube';
import { Lab } from '@valkey-operator/lab';
import {
  createClusterCa,
  createOperatorCa,
  createRootCa,
  issueOperatorCertificate,
  issueSidecarCertificate,
} from '@valkey-operator/pki';
import { type Credentials, readCertificate } from '@valkey-operator/pki/verify';
import { connectToSidecar, CredentialHolder, findStaleLeader, openSession } from '@valkey-operator/rpc/operator';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { signalPodProcess } from '../support/pod-processes.ts';
import { createRestrictedNamespace, TestCluster } from '../support/test-cluster.ts';
import { OPERATOR_NAMESPACE, Operators } from './support/operators.ts';
import { beat, readPair, requestToken, trustDomain } from './support/wire-caller.ts';

/** Who may speak to whom (E5), and who may act after the lease has passed on (faults.md 21). */
const namespace = 'operator-wire';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const operators = new Operators(lab, client);
const cluster = new TestCluster(lab, client, namespace, 'wire');
const caller = { namespace, cluster: 'wire', name: 'caller', uid: '' };
const HOUR_MS = 3_600_000;
const POLL = { timeout: 60_000, interval: 250 };
/** The lease, one look of the standby, and what a busy machine adds. */
const TAKEOVER = { timeout: 15_000 + 3_000 + 10_000, interval: 250 };

/** A member by its service account, but not one that the operator looks after: what it says changes nothing. */
const callerPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: caller.name, namespace },
  spec: {
    serviceAccountName: 'wire-valkey',
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    securityContext: { runAsNonRoot: true, runAsUser: 999, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'caller',
        image: 'registry.k8s.io/pause:3.10',
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
};

beforeAll(async () => {
  await createRestrictedNamespace(lab, namespace);
  await operators.restart(2);
  await cluster.apply({ replicasPerMaster: 0 });
  await cluster.waitUntilReady();
  await lab.apply(JSON.stringify(callerPod));
  caller.uid = (await client.get(pods, caller))!.metadata.uid;
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
      async () => ({ credentials: await credentialsOfOperator(), token: await ownToken() }),
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
    await expect(greet(credentials, (await operators.leader()).epoch)).rejects.toThrow('is not admitted');
  });
});

describe('the lease', () => {
  test('passes on from a leader that was frozen; when it wakes it can do nothing', async () => {
    const before = await operators.leader();
    const frozen = await leadingPod();
    const acted = await operators.metric(frozen, 'valkey_operator_actions_total');
    signalPodProcess(frozen.metadata.uid, 'node', 'SIGSTOP');
    await expect.poll(async () => (await operators.leader()).pod, TAKEOVER).not.toBe(before.pod);
    const after = await operators.leader();
    expect(after.epoch).toBeGreaterThan(before.epoch);

    // Work that the one finds when it wakes, and that is the other's to do.
    await cluster.apply({ replicasPerMaster: 1 });
    signalPodProcess(frozen.metadata.uid, 'node', 'SIGCONT');
    const said = async () => (await operators.log(frozen.metadata.name)).map(({ msg }) => msg);
    await expect.poll(said, POLL).toContain('not leading any more');
    await cluster.waitUntilReady();
    expect(await operators.metric(frozen, 'valkey_operator_actions_total')).toBe(acted);
    expect(await operators.leader()).toEqual(after);
    const stale = await greet(await credentialsOfOperator(), before.epoch).catch((error: unknown) => error);
    expect(findStaleLeader(stale)?.highestEpoch).toBe(BigInt(after.epoch));
  });

  test('passes on within its duration when the leader is killed for good', async () => {
    const before = await operators.leader();
    const killed = await leadingPod();
    signalPodProcess(killed.metadata.uid, 'node', 'SIGKILL');
    await client.delete(pods, killed.metadata, { gracePeriodSeconds: 0 });
    await expect.poll(async () => (await operators.leader()).pod, TAKEOVER).not.toBe(before.pod);
    const { pod, epoch } = await operators.leader();
    expect(epoch).toBeGreaterThan(before.epoch);
    const labelled = async () =>
      (await operators.list())
        .filter(({ metadata }) => metadata.labels?.['valkey.io/leader'])
        .map((each) => each.metadata.name);
    await expect.poll(labelled, POLL).toEqual([pod]);
    await cluster.waitUntilReady();
  });
});

/** What only the operator has: a certificate below the root with its id. */
async function credentialsOfOperator(): Promise<Credentials> {
  const root = await readPair(client, OPERATOR_NAMESPACE, 'valkey-root-ca-cert');
  const request = { trustDomain, validityMs: HOUR_MS, now: new Date() };
  const ca = await createOperatorCa(root, request);
  const leaf = await issueOperatorCertificate(ca, { ...request, dnsNames: [] });
  return { ...leaf, trustBundle: root.certificate };
}

/** Open a session to the first sidecar as a leader of this epoch. */
async function greet(credentials: Credentials, epoch: number): Promise<void> {
  const [pod] = await cluster.pods();
  const sidecar = { trustDomain, namespace, cluster: cluster.name };
  const source = new CredentialHolder(credentials);
  const url = `https://${pod!.status!.podIP}:17369`;
  const channel = connectToSidecar({ url, credentials: source, sidecar, onRefused: () => {} });
  try {
    const session = await openSession(channel.client, { hello: { leaderEpoch: BigInt(epoch) } });
    await session.close();
  } finally {
    channel.close();
  }
}
