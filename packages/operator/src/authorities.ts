import {
  annotations,
  apiVersion,
  labels,
  managedBy,
  parseDuration,
  rootCaName,
  type ValkeyCluster,
} from '@valkey-operator/api';
import { childMetadata, childNames } from '@valkey-operator/core';
import { isKubeError, type KubeClient, type KubeObject, type Secret, secrets } from '@valkey-operator/kube';
import {
  type Authority,
  createClusterCa,
  createOperatorCa,
  createRootCa,
  issueOperatorCertificate,
  issueSidecarCertificate,
} from '@valkey-operator/pki';
import { type Credentials, planRotation, readCertificate } from '@valkey-operator/pki/verify';
import { valkeyCas } from './resources.ts';

const DAY_MS = 24 * 3600 * 1000;
const ROOT_VALIDITY_DAYS = 3650;
const CLUSTER_CA_VALIDITY_MS = 365 * DAY_MS;
const OPERATOR_VALIDITY_MS = DAY_MS;
const ROOT_SECRET = 'valkey-root-ca-cert';

export interface AuthoritiesOptions {
  client: KubeClient;
  namespace: string;
  trustDomain: string;
  now?: () => Date;
}

/** The certificate authorities of this installation: one root, kept in a Secret that only the operator reads (E5, B9). */
export class Authorities {
  readonly #options: Required<AuthoritiesOptions>;
  readonly #root: Authority;

  private constructor(options: Required<AuthoritiesOptions>, root: Authority) {
    this.#options = options;
    this.#root = root;
  }

  /** Load the root, or make it at the very first start. Of two operators that start at once, one makes it for both. */
  static async load(options: AuthoritiesOptions): Promise<Authorities> {
    const complete = { now: () => new Date(), ...options };
    return new Authorities(complete, (await readRoot(complete)) ?? (await makeRoot(complete)));
  }

  get rootCertificate(): string {
    return this.#root.certificate;
  }

  /** The operator's own certificate lives in memory only: each process makes its own, for a day. */
  async issueOperatorCredentials(): Promise<Credentials> {
    const { trustDomain, namespace, now } = this.#options;
    const request = { now: now(), trustDomain, validityMs: OPERATOR_VALIDITY_MS };
    const ca = await createOperatorCa(this.#root, { ...request, validityMs: CLUSTER_CA_VALIDITY_MS });
    const dnsNames = [`valkey-operator.${namespace}.svc`, `valkey-operator.${namespace}.svc.cluster.local`];
    const { certificate, privateKey } = await issueOperatorCertificate(ca, { ...request, dnsNames });
    return { certificate, privateKey, trustBundle: this.#root.certificate };
  }

  async issueIntermediate(cluster: ValkeyCluster): Promise<void> {
    const { client, trustDomain, now } = this.#options;
    const { name, namespace } = cluster.metadata;
    const request = { trustDomain, namespace, cluster: name, now: now(), validityMs: CLUSTER_CA_VALIDITY_MS };
    const authority = await createClusterCa(this.#root, request);
    await client.apply(secrets, certificateSecret(cluster, childNames(name).intermediateSecret, authority, this.#root));
  }

  async issueSidecarCertificate(cluster: ValkeyCluster, validity: string): Promise<void> {
    const { client, trustDomain, now } = this.#options;
    const { name, namespace } = cluster.metadata;
    const names = childNames(name);
    const secret = await client.get(secrets, { namespace, name: names.intermediateSecret });
    const ca = secret && readAuthority(secret);
    if (!ca) return; // the planner asks for the intermediate first and for this one when it is there
    const validityMs = parseDuration(validity);
    const leaf = await issueSidecarCertificate(ca, { trustDomain, namespace, cluster: name, now: now(), validityMs });
    await client.apply(secrets, certificateSecret(cluster, names.sidecarSecret, leaf, this.#root));
  }
}

/** When a certificate that a Secret holds has to be replaced, and what it is. */
export function readSecretCertificate(secret: Secret, rotateBeforePercent: number, seed: string, now: Date) {
  const pem = decode(secret, 'tls.crt');
  if (!pem) return undefined;
  const { thumbprint, notBefore, notAfter } = readCertificate(pem);
  const { rotateAt } = planRotation({ notBefore, notAfter }, { rotateBeforePercent }, seed, now);
  return {
    secret: secret.metadata.name,
    thumbprint,
    notBefore: notBefore.getTime(),
    notAfter: notAfter.getTime(),
    renewAt: rotateAt.getTime(),
  };
}

async function readRoot({ client, namespace }: Required<AuthoritiesOptions>): Promise<Authority | undefined> {
  const secret = await client.get(secrets, { namespace, name: ROOT_SECRET });
  return secret && readAuthority(secret);
}

async function makeRoot(options: Required<AuthoritiesOptions>): Promise<Authority> {
  const { client, namespace, now } = options;
  const root = await createRootCa({
    commonName: 'valkey-operator root',
    validityMs: ROOT_VALIDITY_DAYS * DAY_MS,
    now: now(),
  });
  const metadata = {
    namespace,
    labels: { [labels.managedBy]: managedBy },
    annotations: { [annotations.locked]: 'true' },
  };
  try {
    await client.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...metadata, name: ROOT_SECRET },
      type: 'kubernetes.io/tls',
      data: encode({ 'tls.crt': root.certificate, 'tls.key': root.privateKey, 'ca.crt': root.certificate }),
    });
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
    const theirs = await readRoot(options);
    if (!theirs)
      throw new Error(`Secret ${namespace}/${ROOT_SECRET} exists but holds no certificate authority`, { cause: error });
    return theirs;
  }
  await client.apply<KubeObject>(valkeyCas, {
    apiVersion,
    kind: 'ValkeyCA',
    metadata: { ...metadata, name: rootCaName },
    spec: { description: 'Root CA of this operator', caCertSecretRef: ROOT_SECRET, validForDays: ROOT_VALIDITY_DAYS },
  } as KubeObject);
  return root;
}

function certificateSecret(cluster: ValkeyCluster, name: string, pair: Authority, root: Authority): Secret {
  const data = encode({ 'tls.crt': pair.certificate, 'tls.key': pair.privateKey, 'ca.crt': root.certificate });
  return { apiVersion: 'v1', kind: 'Secret', metadata: childMetadata(cluster, name), type: 'kubernetes.io/tls', data };
}

function readAuthority(secret: Secret): Authority | undefined {
  const [certificate, privateKey] = [decode(secret, 'tls.crt'), decode(secret, 'tls.key')];
  return certificate && privateKey ? { certificate, privateKey } : undefined;
}

function decode(secret: Secret, key: string): string | undefined {
  const value = secret.data?.[key];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}

function encode(values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
}
