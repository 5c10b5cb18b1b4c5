/**
 * Settings that users may not put into spec.config: because the operator needs them to be what they are, because a
 * field of the spec has them, or because they read files, load code or open another door into the server.
 * A trailing * stands for any ending. Old names of a setting are listed beside the new one: Valkey accepts both.
 */
export const ownedSettings = [
  // The address, the identity and the wiring of a node, and how its process runs and ends.
  'availability-zone',
  'bind',
  'bind-source-addr',
  'cluster-*',
  'daemonize',
  'import-mode',
  'logfile',
  'pidfile',
  'port',
  'protected-mode',
  'rdma-*',
  'replica-announce-*',
  'replicaof',
  'shutdown-on-sigint',
  'shutdown-on-sigterm',
  'slave-announce-*',
  'slaveof',
  'supervised',
  'syslog-*',
  'unixsocket',
  'unixsocketgroup',
  'unixsocketperm',
  // spec.tls
  'tls-*',
  // spec.acl, and the operator's own users.
  'aclfile',
  'masterauth',
  'masteruser',
  'primaryauth',
  'primaryuser',
  'requirepass',
  'user',
  // Files, code and protections.
  'appenddirname',
  'appendfilename',
  'dbfilename',
  'dir',
  'enable-debug-command',
  'enable-module-command',
  'enable-protected-configs',
  'include',
  'loadmodule',
  'rename-command',
  // spec.backup
  'appendfsync',
  'appendonly',
  'auto-aof-rewrite-min-size',
  'auto-aof-rewrite-percentage',
  'save',
  // spec.replication
  'min-replicas-max-lag',
  'min-replicas-to-write',
  'min-slaves-max-lag',
  'min-slaves-to-write',
  'repl-diskless-sync',
  'repl-diskless-sync-delay',
] as const;

const ownedNames = new Set<string>(ownedSettings.filter((pattern) => !pattern.endsWith('*')));
const ownedPrefixes = ownedSettings.filter((pattern) => pattern.endsWith('*')).map((pattern) => pattern.slice(0, -1));

/** Valkey reads names in any case. */
export function isOwnedSetting(name: string): boolean {
  const lower = name.toLowerCase();
  return ownedNames.has(lower) || ownedPrefixes.some((prefix) => lower.startsWith(prefix));
}
