import { hasFeature, knowsSetting, parseVersion } from '@valkey-operator/valkey';
import type { Connection } from '@valkey-operator/valkey/connection';
import type { Log } from './log.ts';
import type { ValkeyFacts } from './valkey-facts.ts';

export interface FirstSettings {
  readonly nodeTimeoutMs: number;
  readonly log: Log;
}

const MANUAL_FAILOVER = 'cluster-manual-failover-timeout';

/** What is set when a Valkey answers this sidecar for the first time. */
export async function setFirstSettings(
  connection: Connection,
  { info }: ValkeyFacts,
  { nodeTimeoutMs, log }: FirstSettings,
): Promise<void> {
  const version = parseVersion(info.server.version);
  log.info('Valkey answers', { version: info.server.version, runId: info.server.runId });
  const settings = {
    // A sidecar that died while its node got its first slots has left a short one behind (short-rejoin.ts).
    'cluster-node-timeout': String(nodeTimeoutMs),
    // The backstop where a SIGTERM comes without preStop. It would keep an older Valkey from starting.
    ...(version && hasFeature(version, 'shutdownOnSigtermFailover') && { 'shutdown-on-sigterm': 'failover' }),
    // A primary takes no writes while it waits for its successor to be elected; Valkey's own limit is 5 s.
    ...(version && knowsSetting(version, MANUAL_FAILOVER) && { [MANUAL_FAILOVER]: '2000' }),
  };
  await connection
    .call(['CONFIG', 'SET', ...Object.entries(settings).flat()], { timeoutMs: 1000 })
    .catch((error: unknown) => log.warn('settings were refused', { settings: Object.keys(settings).join(), error }));
}
