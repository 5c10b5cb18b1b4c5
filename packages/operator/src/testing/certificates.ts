import {
  type Authority,
  createClusterCa,
  createOperatorCa,
  createRootCa,
  issueOperatorCertificate,
  issueSidecarCertificate,
} from '@valkey-operator/pki';
import type { Credentials } from '@valkey-operator/pki/verify';
import { namespace } from './builders.ts';

export const trustDomain = 'valkey.test';
const HOUR_MS = 3_600_000;

/** Real certificates of one installation. */
export class Certificates {
  readonly #root: Authority;

  static async create(): Promise<Certificates> {
    return new Certificates(await createRootCa({ commonName: 'root', validityMs: 1000 * HOUR_MS, now: longAgo() }));
  }

  private constructor(root: Authority) {
    this.#root = root;
  }

  get root(): string {
    return this.#root.certificate;
  }

  async operator(): Promise<Credentials> {
    const ca = await createOperatorCa(this.#root, { trustDomain, validityMs: 900 * HOUR_MS, now: longAgo() });
    const request = { trustDomain, dnsNames: [], validityMs: HOUR_MS, now: new Date() };
    return { ...(await issueOperatorCertificate(ca, request)), trustBundle: this.root };
  }

  async sidecar(cluster: string, now: Date = new Date()): Promise<Credentials> {
    const id = { trustDomain, namespace, cluster };
    const ca = await createClusterCa(this.#root, { ...id, validityMs: 900 * HOUR_MS, now: longAgo() });
    return { ...(await issueSidecarCertificate(ca, { ...id, validityMs: HOUR_MS, now })), trustBundle: this.root };
  }
}

/** CAs are older than what they issue, so that a leaf may have a life in the past. */
function longAgo(): Date {
  return new Date(Date.now() - 100 * HOUR_MS);
}
