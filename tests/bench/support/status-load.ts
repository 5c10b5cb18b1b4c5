import { setTimeout as sleep } from 'node:timers/promises';
import { type KubeClient, secrets } from '@valkey-operator/kube';
import { createOperatorCa, issueOperatorCertificate } from '@valkey-operator/pki';
import { connectToSidecar, CredentialHolder } from '@valkey-operator/rpc/operator';

const TRUST_DOMAIN = 'valkey.local';
const GRPC_PORT = 17369;
const HOUR_MS = 3_600_000;

export interface SidecarRef {
  readonly namespace: string;
  readonly cluster: string;
  readonly pod: string;
  readonly ip: string;
}

/** Asks a sidecar for its status so often, as the operator, over one connection; tells how many answers came in a second. */
export async function askForStatus(
  client: KubeClient,
  { ip, ...sidecar }: SidecarRef,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<number> {
  const channel = connectToSidecar({
    url: `https://${ip}:${GRPC_PORT}`,
    credentials: new CredentialHolder(await issueOperatorCredentials(client)),
    sidecar: { trustDomain: TRUST_DOMAIN, ...sidecar },
    onRefused: ({ message }) => console.error(`the sidecar was refused: ${message}`),
  });
  try {
    const start = performance.now();
    const asked: Promise<boolean>[] = [];
    for (let elapsed = 0; elapsed < seconds; elapsed = (performance.now() - start) / 1000) {
      while (asked.length < elapsed * perSecond)
        asked.push(
          channel.client.getStatus({}, { timeoutMs: 10_000 }).then(
            ({ report }) => report !== undefined,
            () => false,
          ),
        );
      await sleep(5);
    }
    const answered = (await Promise.all(asked)).filter(Boolean).length;
    return answered / ((performance.now() - start) / 1000);
  } finally {
    channel.close();
  }
}

/** Whoever may read the root's Secret can be the operator: the administrator of this lab may. */
async function issueOperatorCredentials(client: KubeClient) {
  const secret = await client.get(secrets, { namespace: 'valkey-system', name: 'valkey-root-ca-cert' });
  const read = (key: string) => Buffer.from(secret?.data?.[key] ?? '', 'base64').toString();
  const root = { certificate: read('tls.crt'), privateKey: read('tls.key') };
  const request = { trustDomain: TRUST_DOMAIN, now: new Date(), validityMs: HOUR_MS };
  const ca = await createOperatorCa(root, request);
  return { ...(await issueOperatorCertificate(ca, { ...request, dnsNames: [] })), trustBundle: root.certificate };
}
