import { annotations, apiVersion, labels, managedBy, rootCaName, type ValkeyCA } from '@valkey-operator/api';
import { isKubeError, type KubeClient, type KubeObject, type Live, secrets, writeStatus } from '@valkey-operator/kube';
import { type Authority, createRootCa } from '@valkey-operator/pki';
import { readCertificate } from '@valkey-operator/pki/verify';
import { valkeyCas } from '../resources.ts';
import { certificatePair, readAuthority } from './certificate-secret.ts';

export interface RootOptions {
  client: KubeClient;
  namespace: string;
  now: () => Date;
}

const VALID_DAYS = 3650;
const DAY_MS = 24 * 3600 * 1000;
export const ROOT_SECRET = 'valkey-root-ca-cert';

/** The root of this installation, made at the very first start. Of two operators that start at once, one makes it for both. */
export async function loadRoot(options: RootOptions): Promise<Authority> {
  return (await readRoot(options)) ?? (await makeRoot(options));
}

/** For people: the root as a ValkeyCA (B9). Its key stays in the Secret. */
export async function recordRoot(options: RootOptions, root: Authority): Promise<void> {
  const { client, namespace } = options;
  const ref = { namespace, name: rootCaName };
  const record = (await client.get(valkeyCas, ref)) ?? (await createRecord(options));
  const { thumbprint, notBefore, notAfter } = readCertificate(root.certificate);
  const { conditions, ...known } = record.status ?? {};
  const ready = {
    type: 'Ready',
    status: 'True' as const,
    reason: 'CertificateIssued',
    message: `The key is in the Secret ${ROOT_SECRET}.`,
    observedGeneration: record.metadata.generation ?? 1,
    lastTransitionTime: conditions?.[0]?.lastTransitionTime ?? formatSeconds(options.now()),
  };
  await writeStatus(client, valkeyCas, record, {
    ...known,
    observedGeneration: record.metadata.generation ?? 1,
    thumbprint,
    issuedAt: formatSeconds(notBefore),
    expiresAt: formatSeconds(notAfter),
    conditions: [ready],
  });
}

async function readRoot({ client, namespace }: RootOptions): Promise<Authority | undefined> {
  const secret = await client.get(secrets, { namespace, name: ROOT_SECRET });
  const root = secret && readAuthority(secret);
  if (secret && !root) throw new Error(`Secret ${namespace}/${ROOT_SECRET} exists but holds no certificate authority`);
  return root;
}

async function makeRoot(options: RootOptions): Promise<Authority> {
  const { client, now } = options;
  const commonName = 'valkey-operator root';
  const root = await createRootCa({ commonName, validityMs: VALID_DAYS * DAY_MS, now: now() });
  try {
    const metadata = { ...ownMetadata(options), name: ROOT_SECRET };
    await client.create(secrets, { ...certificatePair(root, root.certificate), metadata });
    return root;
  } catch (error) {
    const theirs = isKubeError(error, 'AlreadyExists') ? await readRoot(options) : undefined;
    if (!theirs) throw error;
    return theirs;
  }
}

async function createRecord(options: RootOptions) {
  const { client } = options;
  const spec = { description: 'Root CA of this operator', caCertSecretRef: ROOT_SECRET, validForDays: VALID_DAYS };
  const metadata = { ...ownMetadata(options), name: rootCaName };
  const record: KubeObject & { spec: object } = { apiVersion, kind: 'ValkeyCA', metadata, spec };
  return (await client.apply<KubeObject>(valkeyCas, record)) as Live<ValkeyCA>;
}

function ownMetadata({ namespace }: RootOptions) {
  return { namespace, labels: { [labels.managedBy]: managedBy }, annotations: { [annotations.locked]: 'true' } };
}

function formatSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
