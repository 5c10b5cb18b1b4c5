import { hasFeature, parseVersion } from '@valkey-operator/valkey';
import type { Connection } from '@valkey-operator/valkey/connection';
import type { Log } from './log.ts';
import type { ValkeyFacts } from './valkey-facts.ts';

/** Settings that would keep an older Valkey from starting are set once it has told its version. */
export async function setVersionSpecific(connection: Connection, { info }: ValkeyFacts, log: Log): Promise<void> {
  const version = parseVersion(info.server.version);
  log.info('Valkey answers', { version: info.server.version, runId: info.server.runId });
  if (!version || !hasFeature(version, 'shutdownOnSigtermFailover')) return;
  // The backstop where a SIGTERM comes without preStop.
  await connection
    .call(['CONFIG', 'SET', 'shutdown-on-sigterm', 'failover'], { timeoutMs: 1000 })
    .catch((error: unknown) => log.warn('a setting was refused', { setting: 'shutdown-on-sigterm', error }));
}
