import 'reflect-metadata';
import { createPrivateKey, generateKeyPairSync, randomBytes, webcrypto, type KeyObject } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
/** A lab is thrown away long before this. */
const VALID_MS = 365 * 24 * 3600 * 1000;

export interface KeyPair {
  cert: string;
  key: string;
}

/** The lab's own certificate authority: Kubernetes knows its components by the names in their certificates. */
export class LabAuthority {
  readonly cert: string;
  readonly #certificate: x509.X509Certificate;
  readonly #key: webcrypto.CryptoKey;

  private constructor(certificate: x509.X509Certificate, key: webcrypto.CryptoKey) {
    this.#certificate = certificate;
    this.#key = key;
    this.cert = certificate.toString('pem');
  }

  static async create(name: string): Promise<{ authority: LabAuthority; key: string }> {
    const keys = newKeys();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      ...validity(),
      name: `CN=valkey-lab ${name}`,
      keys: {
        privateKey: await importKey(keys.privateKey, 'sign'),
        publicKey: await importKey(keys.publicKey, 'verify'),
      },
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      ],
    });
    const key = pem(keys.privateKey);
    return { authority: await LabAuthority.load(certificate.toString('pem'), key), key };
  }

  static async load(cert: string, key: string): Promise<LabAuthority> {
    return new LabAuthority(new x509.X509Certificate(cert), await importKey(createPrivateKey(key), 'sign'));
  }

  /** `user` and `group` become the Kubernetes user and group; `addresses` are what a server may be reached at. */
  async issue(
    user: string,
    { group, addresses = [] }: { group?: string; addresses?: string[] } = {},
  ): Promise<KeyPair> {
    const keys = newKeys();
    const names = addresses.map((value) => ({
      type: /^[\d.]+$/.test(value) ? ('ip' as const) : ('dns' as const),
      value,
    }));
    const certificate = await x509.X509CertificateGenerator.create({
      ...validity(),
      subject: [{ CN: [user] }, ...(group ? [{ O: [group] }] : [])],
      issuer: this.#certificate.subject,
      signingKey: this.#key,
      publicKey: await importKey(keys.publicKey, 'verify'),
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth, x509.ExtendedKeyUsage.serverAuth]),
        ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
      ],
    });
    return { cert: certificate.toString('pem'), key: pem(keys.privateKey) };
  }
}

/** The key pair that signs service account tokens. */
export function createSigningKeys(): { privateKey: string; publicKey: string } {
  const keys = newKeys();
  return {
    privateKey: pem(keys.privateKey),
    publicKey: keys.publicKey.export({ type: 'spki', format: 'pem' }) as string,
  };
}

function newKeys() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}

function importKey(key: KeyObject, usage: 'sign' | 'verify') {
  const format = usage === 'sign' ? ('pkcs8' as const) : ('spki' as const);
  return webcrypto.subtle.importKey(format, key.export({ type: format, format: 'der' }), ALGORITHM, true, [usage]);
}

function validity() {
  const notBefore = new Date(Date.now() - 60_000);
  return {
    serialNumber: randomBytes(12).toString('hex'),
    notBefore,
    notAfter: new Date(notBefore.getTime() + VALID_MS),
  };
}
