import {
  createClusterCa,
  createOperatorCa,
  createRootCa,
  issueOperatorCertificate,
  issueSidecarCertificate,
} from '@valkey-operator/pki';
import type { Authority } from '@valkey-operator/pki';
import type { Credentials } from '@valkey-operator/pki/verify';

export const HOUR = 3_600_000;
export const trustDomain = 'valkey.test';
export const sidecarId = { trustDomain, namespace: 'ns', cluster: 'vc' } as const;

// CAs are older than anything they issue, so that leaves may be issued with a life in the past.
const LONG = { validityMs: 1000 * HOUR, now: new Date(Date.now() - 100 * HOUR) };

interface Life {
  readonly now?: Date;
  readonly validityMs?: number;
}

/** The certificates of one operator and its clusters, all real. */
export class Installation {
  readonly #root: Authority;

  static async create(): Promise<Installation> {
    return new Installation(await createRootCa({ commonName: 'root', ...LONG }));
  }

  private constructor(root: Authority) {
    this.#root = root;
  }

  get trustBundle(): string {
    return this.#root.certificate;
  }

  async operator({ domain = trustDomain, ...life }: Life & { domain?: string } = {}): Promise<Credentials> {
    const id = { trustDomain: domain };
    const ca = await createOperatorCa(this.#root, { ...id, ...LONG });
    return this.#trusting(
      await issueOperatorCertificate(ca, { ...id, dnsNames: [], now: new Date(), validityMs: HOUR, ...life }),
    );
  }

  async sidecar({
    domain = trustDomain,
    ...rest
  }: Life & { domain?: string; cluster?: string; pod?: string } = {}): Promise<Credentials> {
    const id = { ...sidecarId, trustDomain: domain, ...rest };
    const ca = await createClusterCa(this.#root, { ...id, ...LONG });
    return this.#trusting(await issueSidecarCertificate(ca, { now: new Date(), validityMs: HOUR, ...id }));
  }

  #trusting(leaf: Authority): Credentials {
    return { ...leaf, trustBundle: this.trustBundle };
  }
}
