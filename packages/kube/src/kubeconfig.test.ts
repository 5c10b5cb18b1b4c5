import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { asBearer } from './access.ts';
import { inClusterAccess } from './in-cluster.ts';
import { kubeconfigAccess, loadAccess } from './kubeconfig.ts';
import { FakeClock } from './testing/fake-clock.ts';

async function folder(files: Record<string, string>): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  onTestFinished(() => rm(path, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return path;
}

function config(user: object, cluster: object = {}): string {
  return JSON.stringify({
    'current-context': 'main',
    contexts: [{ name: 'main', context: { cluster: 'c', user: 'u', namespace: 'shop' } }],
    clusters: [{ name: 'c', cluster: { server: 'https://kube:6443', ...cluster } }],
    users: [{ name: 'u', user }],
  });
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('a kubeconfig', () => {
  test('gives server, namespace, certificates from data and from files beside it', async () => {
    const user = { 'client-certificate-data': base64('CERT'), 'client-key': 'my.key' };
    const cluster = { 'certificate-authority': 'ca.pem', 'tls-server-name': 'kube.local' };
    const home = await folder({ config: config(user, cluster), 'my.key': 'KEY', 'ca.pem': 'CA' });
    const access = await kubeconfigAccess({ env: { KUBECONFIG: join(home, 'config') } });
    expect(access).toMatchObject({
      server: new URL('https://kube:6443'),
      namespace: 'shop',
      tlsServerName: 'kube.local',
    });
    expect(await access.credentials()).toEqual({ ca: 'CA', cert: 'CERT', key: 'KEY', authorization: undefined });
  });

  test('is merged from several files, those that exist, and another context can be chosen', async () => {
    const contexts = [{ name: 'other', context: { cluster: 'c', user: 'guest' } }];
    const users = [{ name: 'guest', user: { token: 'guest-token' } }];
    const home = await folder({ one: config({ token: 't' }), two: JSON.stringify({ contexts, users }) });
    const env = { KUBECONFIG: ['one', 'missing', 'two'].map((file) => join(home, file)).join(':') };
    const access = await kubeconfigAccess({ env, context: 'other' });
    expect(access.namespace).toBe('default');
    expect(await access.credentials()).toMatchObject({ authorization: 'Bearer guest-token' });
  });

  test('reads a token file again after a minute, and goes on with the old token while it is missing', async () => {
    const home = await folder({ config: config({ tokenFile: 'token' }), token: 'one\n' });
    const clock = new FakeClock();
    const access = await kubeconfigAccess({ env: { KUBECONFIG: join(home, 'config') }, clock });
    const token = async (): Promise<unknown> => (await access.credentials()).authorization;
    expect(await token()).toBe('Bearer one');
    await writeFile(join(home, 'token'), 'two');
    expect(await token()).toBe('Bearer one');
    access.forgetCredentials();
    expect(await token()).toBe('Bearer two');
    await rm(join(home, 'token'));
    await clock.advance(60_000);
    expect(await token()).toBe('Bearer two');
  });

  test('asks a credential plugin, with what it should know, again when its token expires', async () => {
    const plugin = `#!/bin/sh
echo run >> "$(dirname "$0")/runs"
cat <<END
{"kind":"ExecCredential","status":{"token":"$GREETING-$(wc -l < "$(dirname "$0")/runs" | tr -d ' ')","expirationTimestamp":"2026-11-15T01:00:00Z"}}
END
`;
    const exec = { command: './plugin', args: ['--x'], env: [{ name: 'GREETING', value: 'hello' }] };
    const home = await folder({ config: config({ exec }), plugin });
    await chmod(join(home, 'plugin'), 0o755);
    const clock = new FakeClock();
    const access = await kubeconfigAccess({ env: { KUBECONFIG: join(home, 'config') }, clock });
    const all = await Promise.all([access.credentials(), access.credentials()]);
    expect(all.map(({ authorization }) => authorization)).toEqual(['Bearer hello-1', 'Bearer hello-1']);
    await clock.advance(3_600_000);
    expect(await access.credentials()).toMatchObject({ authorization: 'Bearer hello-2' });
  });

  test.each([
    [
      'a plugin that is not there',
      config({ exec: { command: './none', installHint: 'install it' } }),
      'failed: install it',
    ],
    ['a plugin that prints nonsense', config({ exec: { command: 'echo' } }), 'neither a token nor a certificate'],
    ['an obsolete auth provider', config({ 'auth-provider': { name: 'oidc' } }), 'use an exec plugin'],
    ['no current context', '{}', 'no current context'],
    [
      'a context that names no cluster',
      JSON.stringify({ 'current-context': 'x', contexts: [{ name: 'x', context: {} }] }),
      'no cluster',
    ],
    ['a file that is no YAML', '{', 'cannot read kubeconfig'],
  ])('says what is wrong with %s', async (_case, text, message) => {
    const home = await folder({ config: text });
    const attempt = kubeconfigAccess({ env: { KUBECONFIG: join(home, 'config') } }).then((access) =>
      access.credentials(),
    );
    await expect(attempt).rejects.toMatchObject({ code: 'BadConfig', message: expect.stringContaining(message) });
  });
});

describe('in a pod', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };

  test('the service account is used, its token read again after a minute', async () => {
    const directory = await folder({ token: 'one', 'ca.crt': 'CA', namespace: 'ops\n' });
    const clock = new FakeClock();
    const access = await inClusterAccess({ env, directory, clock });
    expect(access).toMatchObject({ server: new URL('https://[fd00::1]:443'), namespace: 'ops' });
    expect(await access.credentials()).toEqual({ ca: 'CA', authorization: 'Bearer one' });
    await writeFile(join(directory, 'token'), 'two');
    await clock.advance(60_000);
    expect(await access.credentials()).toEqual({ ca: 'CA', authorization: 'Bearer two' });
  });

  test('an explicit KUBECONFIG wins', async () => {
    const home = await folder({ config: config({ token: 't' }) });
    const access = await loadAccess({ env: { ...env, KUBECONFIG: join(home, 'config') } });
    expect(access.server.host).toBe('kube:6443');
  });

  test('another may be impersonated by token without our own credentials leaking along', async () => {
    const home = await folder({
      config: config({ 'client-certificate-data': base64('C'), 'client-key-data': base64('K') }),
    });
    const access = await kubeconfigAccess({ env: { KUBECONFIG: join(home, 'config') } });
    expect(await asBearer(access, 'user').credentials()).toEqual({ ca: undefined, authorization: 'Bearer user' });
  });
});
