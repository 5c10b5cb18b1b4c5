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

export interface StatusLoad {
  readonly messages: number;
  readonly perSecond: number;
}

/** So many questions wait for their answer at once, at most. */
const IN_FLIGHT = 16;

/** Of all answers, this share may be lost on the way: see retry-cut-short.ts of packages/rpc. */
const LOST_SHARE = 0.02;

/** Asks a sidecar for its status, as the operator does, and tells how many answers came in a second. */
export async function askForStatus(
  client: KubeClient,
  { ip, ...sidecar }: SidecarRef,
  { messages, perSecond }: StatusLoad,
): Promise<number> {
  const channel = connectToSidecar({
    url: `https://${ip}:${GRPC_PORT}`,
    credentials: new CredentialHolder(await issueOperatorCredentials(client)),
    sidecar: { trustDomain: TRUST_DOMAIN, ...sidecar },
    onRefused: ({ message }) => console.error(`the sidecar was refused: ${message}`),
  });
  const start = performance.now();
  let asked = 0;
  let answered = 0;
  let lastError: unknown;
  const ask = async () => {
    while (asked < messages) {
      const due = (asked++ / perSecond) * 1000;
      await sleep(Math.max(0, due - (performance.now() - start)));
      await channel.client.getStatus({}, { timeoutMs: 30_000 }).then(
        () => (answered += 1),
        (error: unknown) => (lastError = error),
      );
    }
  };
  try {
    await Promise.all(Array.from({ length: IN_FLIGHT }, ask));
    if (answered < messages * (1 - LOST_SHARE)) throw lastError;
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
