import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { type ClusterAccess, type Credentials, rememberCredentials } from './access.ts';
import { type Clock, systemClock } from './clock.ts';
import { KubeError } from './error.ts';
import { type ExecConfig, execCredentials } from './exec-credential.ts';
import { inClusterAccess, isInCluster } from './in-cluster.ts';

interface Cluster {
  server?: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'tls-server-name'?: string;
  'proxy-url'?: string;
}

interface User {
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
  exec?: ExecConfig;
  'auth-provider'?: { name?: string };
}

interface Context {
  cluster?: string;
  user?: string;
  namespace?: string;
}

interface Kubeconfig {
  'current-context'?: string;
  clusters?: { name: string; cluster: Cluster }[] | null;
  users?: { name: string; user: User | null }[] | null;
  contexts?: { name: string; context: Context }[] | null;
}

interface KubeconfigOptions {
  /** A context other than the current one. */
  context?: string | undefined;
  env?: NodeJS.ProcessEnv;
  clock?: Clock;
}

/** Certificates and tokens in files may be rotated by whoever wrote the kubeconfig. */
const REREAD_FILES_MS = 60_000;

/** In a pod its service account, elsewhere the kubeconfig; an explicit KUBECONFIG wins in both. */
export async function loadAccess(options: KubeconfigOptions = {}): Promise<ClusterAccess> {
  const env = options.env ?? process.env;
  return isInCluster(env) && !env['KUBECONFIG'] ? inClusterAccess({ env, ...options }) : kubeconfigAccess(options);
}

/** Access as kubectl would have it, from KUBECONFIG (several files: the first that defines a thing wins) or ~/.kube/config. */
export async function kubeconfigAccess(options: KubeconfigOptions = {}): Promise<ClusterAccess> {
  const { env = process.env, clock = systemClock } = options;
  const named = env['KUBECONFIG']?.split(delimiter).filter(Boolean) ?? [];
  const paths = named.length > 0 ? named : [join(homedir(), '.kube', 'config')];
  const files = await Promise.all(paths.map((path) => readKubeconfig(path, paths.length > 1)));

  const contextName = options.context ?? files.map((file) => file['current-context']).find(Boolean);
  if (!contextName) throw new KubeError('BadConfig', `no current context in ${paths.join(', ')}`);
  const context = find(
    files.map((file) => file.contexts),
    'context',
    contextName,
  ).context;
  const { cluster } = find(
    files.map((file) => file.clusters),
    'cluster',
    context.cluster,
  );
  const user = context.user
    ? (find(
        files.map((file) => file.users),
        'user',
        context.user,
      ).user ?? {})
    : {};
  if (!cluster.server) throw new KubeError('BadConfig', `cluster ${context.cluster} has no server`);
  if (user['auth-provider']) {
    const name = user['auth-provider'].name ?? '';
    throw new KubeError('BadConfig', `user ${context.user}: auth-provider ${name} is obsolete, use an exec plugin`);
  }

  return {
    server: new URL(cluster.server),
    namespace: context.namespace ?? 'default',
    tlsServerName: cluster['tls-server-name'],
    insecureSkipTlsVerify: cluster['insecure-skip-tls-verify'],
    proxyUrl: cluster['proxy-url'],
    ...rememberCredentials(clock, () => loadCredentials(cluster, user, clock)),
  };
}

/** One of several may be missing, as for kubectl. */
async function readKubeconfig(path: string, mayBeMissing: boolean): Promise<Kubeconfig> {
  // Loaded here because a pod never needs it: it would cost the operator memory for nothing.
  const { parse } = await import('yaml');
  let config: Kubeconfig;
  try {
    config = parse(await readFile(path, 'utf8')) ?? {};
  } catch (cause) {
    if (mayBeMissing && (cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new KubeError('BadConfig', `cannot read kubeconfig ${path}`, { cause });
  }
  // Paths in a kubeconfig are relative to the file that holds them.
  const absolute = (file: string | undefined): string | undefined => file && resolve(dirname(path), file);
  for (const { cluster } of config.clusters ?? []) {
    cluster['certificate-authority'] = absolute(cluster['certificate-authority']);
  }
  for (const { user } of config.users ?? []) {
    if (!user) continue;
    user['client-certificate'] = absolute(user['client-certificate']);
    user['client-key'] = absolute(user['client-key']);
    user.tokenFile = absolute(user.tokenFile);
    if (user.exec && /[\\/]/.test(user.exec.command)) user.exec.command = resolve(dirname(path), user.exec.command);
  }
  return config;
}

function find<T extends { name: string }>(
  lists: (T[] | null | undefined)[],
  what: string,
  name: string | undefined,
): T {
  const found = lists.flatMap((list) => list ?? []).find((entry) => entry.name === name);
  if (!found) throw new KubeError('BadConfig', `the kubeconfig has no ${what} ${name}`);
  return found;
}

async function loadCredentials(
  cluster: Cluster,
  user: User,
  clock: Clock,
): Promise<{ credentials: Credentials; freshForMs?: number | undefined }> {
  const ca = await pem(cluster['certificate-authority-data'], cluster['certificate-authority']);
  if (user.exec) {
    const info = user.exec.provideClusterInfo ? clusterInfo(cluster, ca) : undefined;
    const { credentials, freshForMs } = await execCredentials(user.exec, info, clock);
    return { credentials: { ...credentials, ca }, freshForMs };
  }
  const cert = await pem(user['client-certificate-data'], user['client-certificate']);
  const key = await pem(user['client-key-data'], user['client-key']);
  return { credentials: { ca, cert, key, authorization: await authorization(user) }, freshForMs: REREAD_FILES_MS };
}

async function authorization(user: User): Promise<string | undefined> {
  const token = user.tokenFile ? (await readFile(user.tokenFile, 'utf8')).trim() : user.token;
  if (token) return `Bearer ${token}`;
  if (!user.username) return undefined;
  return `Basic ${Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64')}`;
}

async function pem(data: string | undefined, path: string | undefined): Promise<string | undefined> {
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  return path ? readFile(path, 'utf8') : undefined;
}

function clusterInfo(cluster: Cluster, ca: string | undefined): object {
  return {
    server: cluster.server,
    'tls-server-name': cluster['tls-server-name'],
    'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'],
    'certificate-authority-data': ca && Buffer.from(ca).toString('base64'),
    'proxy-url': cluster['proxy-url'],
  };
}
