import {
  createIntermediateCa,
  createRootCa,
  issueOperatorCertificate,
  issueSidecarCertificate,
} from '@valkey-operator/pki';
import type { Authority } from '@valkey-operator/pki';
import type { Credentials } from '@valkey-operator/pki/verify';

export const HOUR = 3_600_000;
export const trustDomain = 'valkey.test';
export const sidecarId = { trustDomain, namespace: 'ns', cluster: 'vc' } as const;

/** The certificates of one operator and its clusters, all real. */
export class Installation {
  readonly #root: Authority;
  readonly #ca: Authority;

  static async create(): Promise<Installation> {
    // Older than anything it issues, so that leaves may be issued with a life in the past.
    const now = new Date(Date.now() - 100 * HOUR);
    const root = await createRootCa({ commonName: 'root', validityMs: 1000 * HOUR, now });
    return new Installation(root, await createIntermediateCa(root, { commonName: 'vc', validityMs: 900 * HOUR, now }));
  }

  private constructor(root: Authority, ca: Authority) {
    this.#root = root;
    this.#ca = ca;
  }

  get trustBundle(): string {
    return this.#root.certificate;
  }

  async operator({ now = new Date(), validityMs = HOUR, domain = trustDomain } = {}): Promise<Credentials> {
    const leaf = await issueOperatorCertificate(this.#ca, { trustDomain: domain, dnsNames: [], validityMs, now });
    return { ...leaf, trustBundle: this.trustBundle };
  }

  async sidecar({
    now = new Date(),
    validityMs = HOUR,
    domain = trustDomain,
    ...id
  }: { now?: Date; validityMs?: number; domain?: string; cluster?: string; pod?: string } = {}): Promise<Credentials> {
    const request = { ...sidecarId, ...id, trustDomain: domain, validityMs, now };
    return { ...(await issueSidecarCertificate(this.#ca, request)), trustBundle: this.trustBundle };
  }
}
