import { setTimeout as sleep } from 'node:timers/promises';
import { workloadIdUri } from '@valkey-operator/pki/verify';
import { CertificateFiles } from '@valkey-operator/rpc/sidecar';
import type { Environment } from './environment.ts';
import type { Log } from './log.ts';

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;

/** The credentials of this cluster's sidecars, and what is wrong with them. */
export class Certificates {
  #files: CertificateFiles | undefined;
  #message = 'not read yet';
  readonly #environment: Environment;
  readonly #log: Log;
  readonly #onRefused: (message: string) => void;

  constructor(environment: Environment, log: Log, onRefused: (message: string) => void) {
    this.#environment = environment;
    this.#log = log;
    this.#onRefused = onRefused;
  }

  get files(): CertificateFiles | undefined {
    return this.#files;
  }

  /** Why a newer certificate, or any, is not in use; empty when all is well. */
  get message(): string {
    return this.#message;
  }

  /**
   * Resolves when there are credentials that can be used. Until then the sidecar does without an operator: a Valkey that
   * runs must not suffer because a certificate ran out while the operator was away.
   */
  async open(directory: string): Promise<CertificateFiles> {
    const { trustDomain, pod, cluster } = this.#environment;
    const spiffeId = workloadIdUri({ kind: 'sidecar', trustDomain, namespace: pod.namespace, cluster });
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(MAX_RETRY_MS, retryMs * 2)) {
      try {
        this.#files = await CertificateFiles.open({
          directory,
          expected: { purposes: ['server', 'client'], spiffeId },
          onProblem: (message) => this.#note(message ?? ''),
        });
        this.#note('');
        return this.#files;
      } catch (error) {
        this.#note(error instanceof Error ? error.message : String(error));
        await sleep(retryMs);
      }
    }
  }

  #note(message: string): void {
    if (message === this.#message) return;
    this.#message = message;
    if (message === '') return this.#log.info('the certificate is in use', { notAfter: this.#files?.leaf().notAfter });
    this.#log.error('the certificate cannot be used', { reason: message });
    this.#onRefused(message);
  }
}
