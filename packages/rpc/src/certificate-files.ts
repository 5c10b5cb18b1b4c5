import { watch, type FSWatcher } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';

import {
  validateCredentials,
  type CertificateFacts,
  type CredentialExpectation,
  type Credentials,
  type CredentialVerdict,
} from '@valkey-operator/pki/verify';

import { CredentialHolder, type CredentialSource } from './credential-source.ts';

export interface CertificateFilesOptions {
  /** A mounted Secret with tls.crt, tls.key and ca.crt. */
  readonly directory: string;
  readonly expected: Omit<CredentialExpectation, 'now'>;
  /** New files that did not pass; the credentials before them stay in use. `undefined`: all is well again. */
  readonly onProblem: (message: string | undefined) => void;
  readonly now?: () => Date;
}

// The kubelet replaces all files by one rename, but makes several changes around it; they are one change to us.
const SETTLE_MS = 100;
// The watch does the work; this finds what a lost event would leave unseen.
const POLL_MS = 5 * 60_000;

/** Credentials from the files of a mounted Secret, which follow it through each of its rotations. */
export class CertificateFiles implements CredentialSource {
  readonly #options: CertificateFilesOptions;
  readonly #holder: CredentialHolder;
  readonly #watcher: FSWatcher;
  readonly #poll: NodeJS.Timeout;
  #leaf: CertificateFacts;
  #settling: NodeJS.Timeout | undefined;
  #work: Promise<void> = Promise.resolve();

  /** Fails when the files that are there now cannot be used: there is nothing to go on with. */
  static async open(options: CertificateFilesOptions): Promise<CertificateFiles> {
    const { credentials, verdict } = await readFiles(options);
    if (!verdict.ok) throw new Error(`${options.directory}: ${verdict.problem}: ${verdict.message}`);
    return new CertificateFiles(options, credentials, verdict.leaf);
  }

  private constructor(options: CertificateFilesOptions, credentials: Credentials, leaf: CertificateFacts) {
    this.#options = options;
    this.#leaf = leaf;
    this.#holder = new CredentialHolder(credentials);
    this.#watcher = watch(options.directory, { persistent: false }, () => this.#settle());
    // A watch that breaks (the directory is gone) leaves the poll, which reports what is wrong.
    this.#watcher.on('error', () => this.#watcher.close());
    this.#poll = setInterval(() => void this.reload(), POLL_MS).unref();
  }

  current(): Credentials {
    return this.#holder.current();
  }

  subscribe(listener: () => void): () => void {
    return this.#holder.subscribe(listener);
  }

  /** Facts of the certificate in use. */
  leaf(): CertificateFacts {
    return this.#leaf;
  }

  /** Reads the files now. Reads never overlap, so an older one cannot overtake a newer one. */
  reload(): Promise<void> {
    this.#work = this.#work.then(() => this.#readAndPublish());
    return this.#work;
  }

  close(): void {
    clearTimeout(this.#settling);
    clearInterval(this.#poll);
    this.#watcher.close();
  }

  #settle(): void {
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => void this.reload(), SETTLE_MS).unref();
  }

  async #readAndPublish(): Promise<void> {
    const { credentials, verdict } = await readFiles(this.#options);
    this.#options.onProblem(verdict.ok ? undefined : `${verdict.problem}: ${verdict.message}`);
    if (!verdict.ok || isSame(credentials, this.current())) return;
    this.#leaf = verdict.leaf;
    this.#holder.publish(credentials);
  }
}

async function readFiles(
  options: CertificateFilesOptions,
): Promise<{ credentials: Credentials; verdict: CredentialVerdict }> {
  try {
    // All three through one resolved link: the kubelet may swap it between two reads.
    const folder = await realpath(join(options.directory, '..data')).catch(() => options.directory);
    const read = (name: string) => readFile(join(folder, name), 'utf8');
    const [certificate, privateKey, trustBundle] = await Promise.all([
      read('tls.crt'),
      read('tls.key'),
      read('ca.crt'),
    ]);
    const credentials = { certificate, privateKey, trustBundle };
    const now = options.now?.() ?? new Date();
    return { credentials, verdict: validateCredentials(credentials, { ...options.expected, now }) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const credentials = { certificate: '', privateKey: '', trustBundle: '' };
    return { credentials, verdict: { ok: false, problem: 'Unreadable', message } };
  }
}

function isSame(a: Credentials, b: Credentials): boolean {
  return a.certificate === b.certificate && a.privateKey === b.privateKey && a.trustBundle === b.trustBundle;
}
