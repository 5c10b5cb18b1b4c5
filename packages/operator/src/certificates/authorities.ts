import { parseDuration } from '@valkey-operator/api';
import { childNames } from '@valkey-operator/core';
import { type KubeClient, type KubeObject, type Live, type Secret, secrets } from '@valkey-operator/kube';
import {
  type Authority,
  createClusterCa,
  createOperatorCa,
  issueOperatorCertificate,
  issueSidecarCertificate,
} from '@valkey-operator/pki';
import { type Credentials, readCertificate } from '@valkey-operator/pki/verify';
import { valkeyCertificateBindings, valkeyCertificateBundles } from '../resources.ts';
import { buildBinding, buildBundle } from './certificate-records.ts';
import { buildCertificateSecret, type CertificateOwner, readAuthority } from './certificate-secret.ts';
import { readFacts } from './certificate-view.ts';
import { loadRoot, recordRoot } from './root-authority.ts';

const DAY_MS = 24 * 3600 * 1000;
const CA_VALIDITY_MS = 365 * DAY_MS;
const OPERATOR_VALIDITY_MS = DAY_MS;

export interface AuthoritiesOptions {
  client: KubeClient;
  namespace: string;
  trustDomain: string;
  now?: () => Date;
}

/** The certificate authorities of this installation: one root, and below it one for the operator and one per cluster (E5, B9). */
export class Authorities {
  readonly #options: Required<AuthoritiesOptions>;
  readonly #root: Authority;

  private constructor(options: Required<AuthoritiesOptions>, root: Authority) {
    this.#options = options;
    this.#root = root;
  }

  static async load(options: AuthoritiesOptions): Promise<Authorities> {
    const complete = { now: () => new Date(), ...options };
    const root = await loadRoot(complete);
    await recordRoot(complete, root);
    return new Authorities(complete, root);
  }

  get rootCertificate(): string {
    return this.#root.certificate;
  }

  /** The operator's own certificate lives in memory only: each process makes its own, for a day. */
  async issueOperatorCredentials(): Promise<Credentials> {
    const { trustDomain, namespace, now } = this.#options;
    const request = { now: now(), trustDomain };
    const ca = await createOperatorCa(this.#root, { ...request, validityMs: CA_VALIDITY_MS });
    const dnsNames = [`valkey-operator.${namespace}.svc`, `valkey-operator.${namespace}.svc.cluster.local`];
    const leaf = await issueOperatorCertificate(ca, { ...request, dnsNames, validityMs: OPERATOR_VALIDITY_MS });
    return { ...leaf, trustBundle: this.#root.certificate };
  }

  /** With `client`, which may write only while its term is valid. */
  async issueIntermediate(client: KubeClient, owner: CertificateOwner): Promise<Live<Secret>> {
    const authority = await createClusterCa(this.#root, { ...this.#request(owner), validityMs: CA_VALIDITY_MS });
    const { intermediateSecret } = childNames(owner.metadata.name);
    const bundle = buildBundle(owner, readCertificate(authority.certificate));
    await client.apply<KubeObject>(valkeyCertificateBundles, bundle);
    return client.apply(secrets, this.#secret(owner, intermediateSecret, authority));
  }

  /**
   * The record is written before the certificate. Should this process die between the two, the certificate is still due, and
   * both are written anew; the other way round the record would be wrong until the next rotation.
   */
  async issueSidecarCertificate(client: KubeClient, owner: CertificateOwner): Promise<Live<Secret>> {
    const { namespace, name } = owner.metadata;
    const names = childNames(name);
    const [caSecret, replaced] = await Promise.all([
      client.get(secrets, { namespace, name: names.intermediateSecret }),
      client.get(secrets, { namespace, name: names.sidecarSecret }),
    ]);
    const ca = caSecret && readAuthority(caSecret);
    if (!ca) throw new Error(`Secret ${namespace}/${names.intermediateSecret} holds no certificate authority`);
    const validityMs = parseDuration(owner.spec.operatorMtls.clientCertValidity);
    const leaf = await issueSidecarCertificate(ca, { ...this.#request(owner), validityMs });
    const binding = buildBinding(owner, readCertificate(leaf.certificate), replaced && readFacts(replaced));
    await client.apply<KubeObject>(valkeyCertificateBindings, binding);
    return client.apply(secrets, this.#secret(owner, names.sidecarSecret, leaf));
  }

  #request({ metadata: { namespace, name } }: CertificateOwner) {
    const { trustDomain, now } = this.#options;
    return { trustDomain, namespace, cluster: name, now: now() };
  }

  #secret(owner: CertificateOwner, name: string, pair: Authority): Secret {
    return buildCertificateSecret(owner, name, pair, this.#root.certificate);
  }
}
