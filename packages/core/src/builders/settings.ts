import { createHash } from 'node:crypto';
import { type EffectiveClusterSpec, parseQuantity } from '@valkey-operator/api';
import { parseMemorySize } from '@valkey-operator/valkey';
import { previousDetail } from '../previous-detail.ts';
import type { ChildObject, ClusterSnapshot } from '../snapshot.ts';
import { childNames } from './names.ts';

/**
 * Of the memory limit, this much is for data. The rest is for what Valkey does not count as data: replication and client
 * buffers, fragmentation, and the pages that a forked child copies while clients write.
 */
const MAXMEMORY_SHARE = 0.75;

/** A maxmemory of as much as there is. */
export const UNLIMITED = '0';

/** Where the ConfigMap has them. */
export const SETTINGS_KEY = 'settings.json';

export interface NodeSettings {
  readonly hash: string;
  readonly settings: Readonly<Record<string, string>>;
  /** What single nodes have beside these, by pod. */
  readonly nodes?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Valkey's directives that follow from the spec; the sidecar adds those that belong to the node (addresses, paths). */
export function buildSettings(
  spec: EffectiveClusterSpec,
  nodes: NonNullable<NodeSettings['nodes']> = {},
): NodeSettings {
  const settings = {
    ...memorySettings(spec),
    ...persistenceSettings(spec),
    ...replicationSettings(spec),
    ...Object.fromEntries(Object.entries(spec.config ?? {}).map(([key, value]) => [key.toLowerCase(), value])),
  };
  const own = Object.keys(nodes).length > 0 ? { nodes } : {};
  return { hash: hashSettings({ settings, ...own }), settings, ...own };
}

/** What one node runs with. */
export function settingsOfNode({ settings, nodes }: NodeSettings, pod: string): Record<string, string> {
  return { ...settings, ...nodes?.[pod] };
}

/**
 * Settings that are in effect: what the ConfigMap says, for nothing is written there that not every node has accepted. When
 * there is none, or when somebody has written into it, what the detail has recorded of it.
 */
export function settingsInEffect(snapshot: Pick<ClusterSnapshot, 'cluster' | 'children'>): NodeSettings | undefined {
  const name = childNames(snapshot.cluster.metadata.name).configMap;
  const found = snapshot.children.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name);
  return (found && parseSettings(found)) ?? validateSettings(previousDetail(snapshot).acceptedSettings);
}

function parseSettings(configMap: ChildObject): NodeSettings | undefined {
  const text = (configMap['data'] as Record<string, string> | undefined)?.[SETTINGS_KEY];
  try {
    return validateSettings(JSON.parse(text ?? ''));
  } catch {
    return undefined;
  }
}

function validateSettings(document: unknown): NodeSettings | undefined {
  const { hash, settings, nodes } = (document ?? {}) as Partial<NodeSettings>;
  const isMap = (map: unknown) =>
    typeof map === 'object' && map !== null && Object.values(map).every((value) => typeof value === 'string');
  if (!settings || !isMap(settings) || !Object.values(nodes ?? {}).every(isMap)) return undefined;
  const content = { settings, ...(nodes && { nodes }) };
  return hash === hashSettings(content) ? { hash, ...content } : undefined;
}

/** In one order, whoever told them: the API server sorts what it keeps, and the difference would pass for a wish of our own. */
export function formatSettings({ hash, settings, nodes }: NodeSettings): string {
  const sort = (map: object) => Object.fromEntries(Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const own = nodes && Object.entries(sort(nodes)).map(([pod, map]) => [pod, sort(map as object)]);
  return JSON.stringify({ hash, settings: sort(settings), ...(own && { nodes: Object.fromEntries(own) }) }, null, 2);
}

/** Frozen by a golden test: were this to change, an upgrade of the operator alone would restart every pod of the fleet. */
export function hashSettings({ settings, nodes }: Omit<NodeSettings, 'hash'>): string {
  const sorted = (map: object) => Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const own = nodes && sorted(nodes).map(([pod, map]) => [pod, sorted(map as object)]);
  const canonical = own ? [sorted(settings), own] : sorted(settings);
  return createHash('sha256').update(JSON.stringify(canonical)).digest('hex').slice(0, 16);
}

/** Bytes that a pod's Valkey may take; without a word as many as there are. */
export function memoryLimit({ resources }: Pick<EffectiveClusterSpec, 'resources'>): number {
  return parseQuantity(resources.limits?.memory ?? '') ?? Infinity;
}

/** What is no size at all will be refused: until then nothing is known to fit. */
export function bytesOf(maxmemory: string): number {
  const bytes = parseMemorySize(maxmemory) ?? -1;
  return bytes === 0 ? Infinity : bytes;
}

function memorySettings(spec: EffectiveClusterSpec): Record<string, string> {
  const bytes = memoryLimit(spec);
  return bytes === Infinity ? {} : { maxmemory: String(Math.floor(bytes * MAXMEMORY_SHARE)) };
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

/** The field of the spec that a setting comes from. */
export function fieldOfSetting({ config }: EffectiveClusterSpec, name: string): string {
  const isOwn = Object.keys(config ?? {}).some((key) => key.toLowerCase() === name);
  return isOwn ? `spec.config["${name}"]` : (FIELDS[name] ?? `spec.config["${name}"]`);
}

const FIELDS: Readonly<Record<string, string>> = {
  maxmemory: 'spec.resources.limits.memory',
  save: 'spec.backup.database.save',
  appendonly: 'spec.backup.aof.enabled',
  appendfsync: 'spec.backup.aof.appendfsync',
  'auto-aof-rewrite-percentage': 'spec.backup.aof.autoAofRewritePercentage',
  'auto-aof-rewrite-min-size': 'spec.backup.aof.autoAofRewriteMinSize',
  'repl-diskless-sync': 'spec.replication.disklessSync',
  'repl-diskless-sync-delay': 'spec.replication.disklessSyncDelay',
  'min-replicas-to-write': 'spec.replication.minReplicasToWrite',
  'min-replicas-max-lag': 'spec.replication.minReplicasMaxLag',
};
