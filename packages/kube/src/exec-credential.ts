import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Credentials } from './access.ts';
import type { Clock } from './clock.ts';
import { KubeError } from './error.ts';

/** `user.exec` of a kubeconfig: a program that prints an ExecCredential. */
export interface ExecConfig {
  apiVersion?: string;
  command: string;
  args?: string[] | null;
  env?: { name: string; value: string }[] | null;
  installHint?: string;
  provideClusterInfo?: boolean;
}

interface ExecCredential {
  kind?: string;
  status?: {
    token?: string;
    clientCertificateData?: string;
    clientKeyData?: string;
    expirationTimestamp?: string;
  };
}

const run = promisify(execFile);

export async function execCredentials(
  config: ExecConfig,
  cluster: object | undefined,
  clock: Clock,
): Promise<{ credentials: Credentials; freshForMs?: number }> {
  const apiVersion = config.apiVersion ?? 'client.authentication.k8s.io/v1';
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false, ...(cluster && { cluster }) } };
  const env = {
    ...process.env,
    ...Object.fromEntries((config.env ?? []).map(({ name, value }) => [name, value])),
    KUBERNETES_EXEC_INFO: JSON.stringify(info),
  };
  const { stdout } = await run(config.command, config.args ?? [], { env, timeout: 60_000 }).catch(
    (failure: { stderr?: string }) => {
      // Without its cause, which repeats the plugin's arguments: they may hold secrets.
      const why = failure.stderr?.trim() || config.installHint || 'it cannot be run';
      throw new KubeError('BadConfig', `credential plugin ${config.command} failed: ${why}`);
    },
  );
  return readExecCredential(config.command, stdout, clock);
}

function readExecCredential(
  command: string,
  stdout: string,
  clock: Clock,
): { credentials: Credentials; freshForMs?: number } {
  let status: ExecCredential['status'];
  try {
    const credential: ExecCredential = JSON.parse(stdout);
    status = credential.kind === 'ExecCredential' ? credential.status : undefined;
  } catch {
    status = undefined;
  }
  if (!status?.token && !status?.clientCertificateData) {
    throw new KubeError('BadConfig', `credential plugin ${command} gave neither a token nor a certificate`);
  }
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  return {
    credentials: { cert, key, ...(token && { authorization: `Bearer ${token}` }) },
    ...(expirationTimestamp && { freshForMs: Date.parse(expirationTimestamp) - clock.now() }),
  };
}
