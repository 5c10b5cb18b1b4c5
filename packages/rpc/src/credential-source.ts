import type { SecureContextOptions } from 'node:tls';

import type { Credentials } from '@valkey-operator/pki/verify';

/** Where a TLS endpoint finds the credentials of the moment, and hears of new ones. */
export interface CredentialSource {
  current(): Credentials;
  /** Calls `listener` after each change, until the returned function is called. */
  subscribe(listener: () => void): () => void;
}

/** Credentials that are handed in by whoever makes them. */
export class CredentialHolder implements CredentialSource {
  #current: Credentials;
  readonly #listeners = new Set<() => void>();

  constructor(initial: Credentials) {
    this.#current = initial;
  }

  current(): Credentials {
    return this.#current;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Certificate, key and CA change together or not at all, so nobody ever sees half of a rotation. */
  publish(credentials: Credentials): void {
    this.#current = credentials;
    for (const listener of this.#listeners) listener();
  }
}

export function tlsOptions({ certificate, privateKey, trustBundle }: Credentials): SecureContextOptions {
  return { cert: certificate, key: privateKey, ca: trustBundle, minVersion: 'TLSv1.3' };
}
