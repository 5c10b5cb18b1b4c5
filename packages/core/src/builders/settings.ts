import { createHash } from 'node:crypto';
import { type EffectiveClusterSpec, parseQuantity } from '@valkey-operator/api';

/**
 * Of the memory limit, this much is for data. The rest is for what Valkey does not count as data: replication and client
 * buffers, fragmentation, and the pages that a forked child copies while clients write.
 */
const MAXMEMORY_SHARE = 0.75;

export interface NodeSettings {
  readonly hash: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** Valkey's directives that follow from the spec; the sidecar adds those that belong to the node (addresses, paths). */
export function buildSettings(spec: EffectiveClusterSpec): NodeSettings {
  const settings = {
    ...memorySettings(spec),
    ...persistenceSettings(spec),
    ...replicationSettings(spec),
    ...Object.fromEntries(Object.entries(spec.config ?? {}).map(([key, value]) => [key.toLowerCase(), value])),
  };
  return { hash: hashSettings(settings), settings };
}

/** Frozen by a golden test: were this to change, an upgrade of the operator alone would restart every pod of the fleet. */
export function hashSettings(settings: Readonly<Record<string, string>>): string {
  const canonical = Object.entries(settings).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(canonical)).digest('hex').slice(0, 16);
}

function memorySettings({ resources }: EffectiveClusterSpec): Record<string, string> {
  const limit = resources.limits?.memory;
  const bytes = limit === undefined ? undefined : parseQuantity(limit);
  return bytes === undefined ? {} : { maxmemory: String(Math.floor(bytes * MAXMEMORY_SHARE)) };
}

function persistenceSettings({ backup: { database, aof } }: EffectiveClusterSpec): Record<string, string> {
  return {
    save: database.enabled ? database.save : '',
    appendonly: yesNo(aof.enabled),
    appendfsync: aof.appendfsync,
    'auto-aof-rewrite-percentage': String(aof.autoAofRewritePercentage),
    'auto-aof-rewrite-min-size': aof.autoAofRewriteMinSize,
  };
}

function replicationSettings({ replication }: EffectiveClusterSpec): Record<string, string> {
  return {
    'repl-diskless-sync': yesNo(replication.disklessSync),
    'repl-diskless-sync-delay': String(replication.disklessSyncDelay),
    'min-replicas-to-write': String(replication.minReplicasToWrite),
    'min-replicas-max-lag': String(replication.minReplicasMaxLag),
  };
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}
