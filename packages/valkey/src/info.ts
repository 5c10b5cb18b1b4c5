import { parseFields, readNumber, requireNumber, requireText } from './fields.ts';

/**
 * INFO, section by section. A section that was not asked for, or that the user may not see, is undefined; inside a
 * section the fields are those that 8.0, 8.1 and 9.1 all send.
 */
export interface Info {
  readonly server: ServerInfo | undefined;
  readonly memory: MemoryInfo | undefined;
  readonly persistence: PersistenceInfo | undefined;
  readonly replication: ReplicationInfo | undefined;
  readonly clusterEnabled: boolean | undefined;
  /** Keys in all databases; undefined when the keyspace section is missing. */
  readonly keyCount: number | undefined;
  /** Hashes with a time to live per field, which came with 9.0; 0 before. */
  readonly expiringHashCount: number | undefined;
}

export interface ServerInfo {
  readonly version: string;
  /** Changes with every start of the process: tells a restart from a pause. */
  readonly runId: string;
  readonly processId: number;
  readonly uptimeSeconds: number;
  readonly mode: string;
}

export interface MemoryInfo {
  readonly usedBytes: number;
  readonly residentBytes: number;
  readonly peakBytes: number;
  /** 0 is "no limit". */
  readonly maxBytes: number;
  readonly maxMemoryPolicy: string;
}

export interface PersistenceInfo {
  readonly loading: boolean;
  readonly asyncLoading: boolean;
  readonly loadedPercent: number | undefined;
  readonly rdbSaveInProgress: boolean;
  readonly rdbLastSaveOk: boolean;
  readonly rdbLastSaveAtSeconds: number;
  readonly changesSinceLastSave: number;
  readonly aofEnabled: boolean;
  readonly aofRewriteInProgress: boolean;
  readonly aofLastWriteOk: boolean;
  readonly aofLastRewriteOk: boolean;
}

export interface ReplicationInfo {
  readonly role: 'primary' | 'replica';
  readonly replicationId: string;
  readonly secondReplicationId: string;
  /** What this node has written or applied; for a replica, how far it follows its primary. */
  readonly offset: number;
  readonly secondOffset: number;
  readonly failoverState: string;
  readonly replicas: readonly ReplicaLink[];
  readonly primary: PrimaryLink | undefined;
}

/** A replica as its primary sees it. */
export interface ReplicaLink {
  readonly ip: string;
  readonly port: number;
  readonly state: string;
  readonly offset: number;
  readonly lagSeconds: number;
}

/** The primary as its replica sees it. */
export interface PrimaryLink {
  readonly host: string;
  readonly port: number;
  readonly up: boolean;
  readonly syncInProgress: boolean;
  /** -1 when nothing was ever heard. */
  readonly lastIoSeconds: number;
  readonly downSinceSeconds: number | undefined;
}

type Fields = ReadonlyMap<string, string>;

export function parseInfo(text: string): Info {
  const sections = splitSections(text);
  const read = <T>(name: string, parse: (fields: Fields) => T): T | undefined => {
    const fields = sections.get(name);
    return fields === undefined ? undefined : parse(fields);
  };
  return {
    server: read('Server', parseServer),
    memory: read('Memory', parseMemory),
    persistence: read('Persistence', parsePersistence),
    replication: read('Replication', parseReplication),
    clusterEnabled: read('Cluster', (fields) => isSet(fields, 'cluster_enabled')),
    keyCount: read('Keyspace', (fields) => sumOverDatabases(fields, 'keys')),
    expiringHashCount: read('Keyspace', (fields) => sumOverDatabases(fields, 'keys_with_volatile_items')),
  };
}

function splitSections(text: string): Map<string, Fields> {
  const sections = new Map<string, Fields>();
  for (const block of text.split(/^# /m).slice(1)) {
    const end = block.search(/\r?\n|$/);
    sections.set(block.slice(0, end), parseFields(block.slice(end)));
  }
  return sections;
}

function parseServer(fields: Fields): ServerInfo {
  return {
    // redis_version is frozen at 7.2.4 for old clients; the truth is in valkey_version.
    version: requireText(fields, 'valkey_version'),
    runId: requireText(fields, 'run_id'),
    processId: requireNumber(fields, 'process_id'),
    uptimeSeconds: requireNumber(fields, 'uptime_in_seconds'),
    mode: requireText(fields, 'server_mode'),
  };
}

function parseMemory(fields: Fields): MemoryInfo {
  return {
    usedBytes: requireNumber(fields, 'used_memory'),
    residentBytes: requireNumber(fields, 'used_memory_rss'),
    peakBytes: requireNumber(fields, 'used_memory_peak'),
    maxBytes: requireNumber(fields, 'maxmemory'),
    maxMemoryPolicy: requireText(fields, 'maxmemory_policy'),
  };
}

function parsePersistence(fields: Fields): PersistenceInfo {
  return {
    loading: isSet(fields, 'loading'),
    asyncLoading: isSet(fields, 'async_loading'),
    loadedPercent: readNumber(fields, 'loading_loaded_perc'),
    rdbSaveInProgress: isSet(fields, 'rdb_bgsave_in_progress'),
    rdbLastSaveOk: isOk(fields, 'rdb_last_bgsave_status'),
    rdbLastSaveAtSeconds: requireNumber(fields, 'rdb_last_save_time'),
    changesSinceLastSave: requireNumber(fields, 'rdb_changes_since_last_save'),
    aofEnabled: isSet(fields, 'aof_enabled'),
    aofRewriteInProgress: isSet(fields, 'aof_rewrite_in_progress'),
    aofLastWriteOk: isOk(fields, 'aof_last_write_status'),
    aofLastRewriteOk: isOk(fields, 'aof_last_bgrewrite_status'),
  };
}

function parseReplication(fields: Fields): ReplicationInfo {
  const role = requireText(fields, 'role') === 'master' ? 'primary' : 'replica';
  return {
    role,
    replicationId: requireText(fields, 'master_replid'),
    secondReplicationId: requireText(fields, 'master_replid2'),
    offset: readNumber(fields, 'slave_repl_offset') ?? requireNumber(fields, 'master_repl_offset'),
    secondOffset: requireNumber(fields, 'second_repl_offset'),
    failoverState: requireText(fields, 'master_failover_state'),
    replicas: [...fields].filter(([name]) => /^slave\d+$/.test(name)).map(([, value]) => parseReplicaLink(value)),
    primary: role === 'replica' ? parsePrimaryLink(fields) : undefined,
  };
}

function parseReplicaLink(value: string): ReplicaLink {
  const fields = parsePairs(value);
  return {
    ip: requireText(fields, 'ip'),
    port: requireNumber(fields, 'port'),
    state: requireText(fields, 'state'),
    offset: requireNumber(fields, 'offset'),
    lagSeconds: requireNumber(fields, 'lag'),
  };
}

function parsePrimaryLink(fields: Fields): PrimaryLink {
  return {
    host: requireText(fields, 'master_host'),
    port: requireNumber(fields, 'master_port'),
    up: requireText(fields, 'master_link_status') === 'up',
    syncInProgress: isSet(fields, 'master_sync_in_progress'),
    lastIoSeconds: requireNumber(fields, 'master_last_io_seconds_ago'),
    downSinceSeconds: readNumber(fields, 'master_link_down_since_seconds'),
  };
}

function sumOverDatabases(fields: Fields, name: string): number {
  return [...fields.values()].reduce((sum, value) => sum + (readNumber(parsePairs(value), name) ?? 0), 0);
}

function parsePairs(value: string): Fields {
  const pairs = value.split(',').map((pair): [string, string] => {
    const equals = pair.indexOf('=');
    return [pair.slice(0, equals), pair.slice(equals + 1)];
  });
  return new Map(pairs);
}

function isSet(fields: Fields, name: string): boolean {
  return requireNumber(fields, name) !== 0;
}

function isOk(fields: Fields, name: string): boolean {
  return requireText(fields, name) === 'ok';
}
