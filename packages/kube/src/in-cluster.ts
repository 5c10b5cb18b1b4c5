import { readFile } from 'node:fs/promises';
import { type ClusterAccess, rememberCredentials } from './access.ts';
import { type Clock, systemClock } from './clock.ts';
import { KubeError } from './error.ts';

const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The kubelet replaces a projected token at 80 % of its life, 48 minutes at the default: a minute's lag is harmless. */
const REREAD_MS = 60_000;

interface InClusterOptions {
  env?: NodeJS.ProcessEnv;
  directory?: string;
  clock?: Clock;
}

export function isInCluster(env: NodeJS.ProcessEnv = process.env): boolean {
  return Boolean(env['KUBERNETES_SERVICE_HOST'] && env['KUBERNETES_SERVICE_PORT']);
}

/** Access with the pod's own service account. */
export async function inClusterAccess(options: InClusterOptions = {}): Promise<ClusterAccess> {
  const { env = process.env, directory = SERVICE_ACCOUNT_DIRECTORY, clock = systemClock } = options;
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port) throw new KubeError('BadConfig', 'not in a pod: KUBERNETES_SERVICE_HOST and _PORT are not set');

  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    namespace: (await readFile(`${directory}/namespace`, 'utf8')).trim(),
    ...rememberCredentials(clock, async () => ({
      credentials: {
        ca: await readFile(`${directory}/ca.crt`, 'utf8'),
        authorization: `Bearer ${(await readFile(`${directory}/token`, 'utf8')).trim()}`,
      },
      freshForMs: REREAD_MS,
    })),
  };
}
