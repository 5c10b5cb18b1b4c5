import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { type KubeClient, pods, type Secret, secrets, serviceAccounts } from '@valkey-operator/kube';
import { type Authority, createOperatorCa, issueOperatorCertificate } from '@valkey-operator/pki';
import type { Credentials } from '@valkey-operator/pki/verify';
import { NodeReportSchema } from '@valkey-operator/rpc';
import { connectToSidecar, CredentialHolder, openSession } from '@valkey-operator/rpc/operator';
import { connectToOperator } from '@valkey-operator/rpc/sidecar';
import type { TestCluster } from '../../support/test-cluster.ts';
import { OPERATOR_NAMESPACE } from './operators.ts';

export const trustDomain = 'valkey.local';

interface PodName {
  readonly name: string;
  readonly uid: string;
}

/** A pod in whose name the gateway can be called. */
export interface Caller extends PodName {
  readonly namespace: string;
  readonly cluster: string;
}

/** A member by its service account, but not one that the operator looks after: what it says changes nothing. */
export async function createCaller({ lab, client, namespace, name: cluster }: TestCluster): Promise<Caller> {
  const metadata = { name: 'caller', namespace };
  const spec = {
    serviceAccountName: `${cluster}-valkey`,
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
  };
  await lab.apply(JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec }));
  const { uid } = (await client.get(pods, metadata))!.metadata;
  return { ...metadata, cluster, uid };
}

/** Calls the operator's gateway once, as a sidecar of the given pod would. */
export async function beat(operatorIp: string, credentials: Credentials, token: string, pod: Caller): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'wire-'));
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, token);
  const url = `https://${operatorIp}:17379`;
  const source = new CredentialHolder(credentials);
  const channel = connectToOperator({ url, credentials: source, trustDomain, tokenFile, onRefused: () => {} });
  try {
    const report = create(NodeReportSchema, { pod, bootId: 'test', sequence: BigInt(Date.now()) });
    await channel.client.heartbeat({ report }, { timeoutMs: 10_000 });
  } finally {
    channel.close();
    rmSync(folder, { recursive: true });
  }
}

export async function requestToken(
  client: KubeClient,
  serviceAccount: { namespace: string; name: string },
  pod: PodName,
  audience = 'valkey-operator',
): Promise<string> {
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', ...pod };
  const { status } = await client.postSubresource<{ status: { token: string } }>(
    serviceAccounts,
    serviceAccount,
    'token',
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [audience], boundObjectRef },
    },
  );
  return status.token;
}

/** Certificate, key and root of a TLS Secret. */
export async function readPair(client: KubeClient, namespace: string, name: string): Promise<Authority & Credentials> {
  const secret: Secret | undefined = await client.get(secrets, { namespace, name });
  const read = (key: string) => Buffer.from(secret?.data?.[key] ?? '', 'base64').toString('utf8');
  return { certificate: read('tls.crt'), privateKey: read('tls.key'), trustBundle: read('ca.crt') };
}

/** What only the operator has: a certificate below the root with its id. */
export async function credentialsOfOperator(client: KubeClient): Promise<Credentials> {
  const root = await readPair(client, OPERATOR_NAMESPACE, 'valkey-root-ca-cert');
  const request = { trustDomain, validityMs: 3_600_000, now: new Date() };
  const ca = await createOperatorCa(root, request);
  const leaf = await issueOperatorCertificate(ca, { ...request, dnsNames: [] });
  return { ...leaf, trustBundle: root.certificate };
}

/** A session to the first sidecar of a cluster, as a leader of this epoch would open it. */
export async function greet(
  cluster: TestCluster,
  epoch: number,
  credentials: Credentials,
): Promise<AsyncDisposable & { isOpen(): boolean }> {
  const [pod] = await cluster.pods();
  const { namespace, name } = cluster;
  const sidecar = { trustDomain, namespace, cluster: name };
  const source = new CredentialHolder(credentials);
  const url = `https://${pod!.status!.podIP}:17369`;
  const channel = connectToSidecar({ url, credentials: source, sidecar, onRefused: () => {} });
  let isOpen = true;
  try {
    const session = await openSession(channel.client, { hello: { leaderEpoch: BigInt(epoch) } });
    void session.over.then(() => (isOpen = false));
    return {
      isOpen: () => isOpen,
      [Symbol.asyncDispose]: async () => {
        await session.close();
        channel.close();
      },
    };
  } catch (error) {
    channel.close();
    throw error;
  }
}
