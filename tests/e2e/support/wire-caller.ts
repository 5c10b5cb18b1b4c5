import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { type KubeClient, type Secret, secrets, serviceAccounts } from '@valkey-operator/kube';
import type { Authority } from '@valkey-operator/pki';
import type { Credentials } from '@valkey-operator/pki/verify';
import { NodeReportSchema } from '@valkey-operator/rpc';
import { CredentialHolder } from '@valkey-operator/rpc/operator';
import { connectToOperator } from '@valkey-operator/rpc/sidecar';

export const trustDomain = 'valkey.local';

interface PodName {
  readonly name: string;
  readonly uid: string;
}

/** Calls the operator's gateway once, as a sidecar of the given pod would. */
export async function beat(
  operatorIp: string,
  credentials: Credentials,
  token: string,
  pod: PodName & { readonly namespace: string; readonly cluster: string },
): Promise<void> {
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
