import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readCertificate, type Credentials } from '@valkey-operator/pki/verify';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { CertificateFiles } from './certificate-files.ts';
import { Installation } from './testing/installation.ts';

let home: Installation;
let directory: string;
let problems: Array<string | undefined>;
let generation = 0;
const opened: CertificateFiles[] = [];

beforeAll(async () => {
  home = await Installation.create();
});
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rpc-files-'));
  problems = [];
});
afterEach(() => {
  for (const files of opened.splice(0)) files.close();
  rmSync(directory, { recursive: true });
});

/** What the kubelet does: a new folder, then one rename of the link that all files go through. */
function mount({ certificate, privateKey, trustBundle }: Credentials): void {
  const folder = `..2026_${generation++}`;
  mkdirSync(join(directory, folder));
  writeFileSync(join(directory, folder, 'tls.crt'), certificate);
  writeFileSync(join(directory, folder, 'tls.key'), privateKey);
  writeFileSync(join(directory, folder, 'ca.crt'), trustBundle);
  symlinkSync(folder, join(directory, '..data_tmp'));
  renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
}

async function open(): Promise<CertificateFiles> {
  const files = await CertificateFiles.open({
    directory,
    expected: { purposes: ['server', 'client'], spiffeId: 'spiffe://valkey.test/ns/ns/valkeycluster/vc/sidecar' },
    onProblem: (problem) => problems.push(problem),
  });
  opened.push(files);
  return files;
}

describe('certificate files', () => {
  it('are published anew when the kubelet has replaced them', async () => {
    const [first, second] = [await home.sidecar(), await home.sidecar()];
    mount(first);
    const files = await open();
    expect(files.current()).toEqual(first);
    const published = new Promise<void>((resolve) => files.subscribe(resolve));
    mount(second);
    await published;
    expect(files.current()).toEqual(second);
    expect(files.leaf().thumbprint).toBe(readCertificate(second.certificate).thumbprint);
  });

  it.each([
    [
      'a key that is not of the certificate',
      'KeyMismatch',
      async () => ({ privateKey: (await home.sidecar()).privateKey }),
    ],
    ['a certificate of somebody else', 'WrongIdentity', () => home.operator()],
    ['an empty CA', 'Unreadable', async () => ({ trustBundle: '' })],
  ])('stay as they were while the new ones have %s', async (_, problem, broken) => {
    const good = await home.sidecar();
    mount(good);
    const files = await open();
    let published = 0;
    files.subscribe(() => published++);
    mount({ ...(await home.sidecar()), ...(await broken()) });
    await files.reload();
    expect(problems.at(-1)).toContain(problem);
    expect(files.current()).toEqual(good);
    expect(published).toBe(0);

    const repaired = await home.sidecar();
    mount(repaired);
    await files.reload();
    expect(problems.at(-1)).toBeUndefined();
    expect(files.current()).toEqual(repaired);
  });

  it('stay as they were when they are gone', async () => {
    const good = await home.sidecar();
    mount(good);
    const files = await open();
    rmSync(join(directory, '..data'));
    await files.reload();
    expect(problems.at(-1)).toContain('ENOENT');
    expect(files.current()).toEqual(good);
  });

  it('are not announced when nothing has changed', async () => {
    const same = await home.sidecar();
    mount(same);
    const files = await open();
    let published = 0;
    files.subscribe(() => published++);
    mount(same);
    await files.reload();
    expect(published).toBe(0);
  });

  it('must be good to begin with', async () => {
    mount({ ...(await home.sidecar()), trustBundle: (await Installation.create()).trustBundle });
    await expect(open()).rejects.toThrow('UntrustedChain');
  });
});
