import {
  expectText,
  parseClusterInfo,
  parseClusterNodes,
  parseInfo,
  parseSlotMigrations,
  ValkeyError,
  type ClusterInfo,
  type ClusterNode,
  type Info,
  type ServerInfo,
  type SlotMigration,
} from '@valkey-operator/valkey';
import { withBusAddresses } from './bus-addresses.ts';
import type { Connection } from '@valkey-operator/valkey/connection';

/** What Valkey says of itself at one moment. */
export interface ValkeyFacts {
  readonly at: Date;
  readonly info: Info & { readonly server: ServerInfo };
  /** Not there while it loads its data. */
  readonly cluster: ClusterFacts | undefined;
}

export interface ClusterFacts {
  readonly info: ClusterInfo;
  readonly nodes: readonly ClusterNode[];
  readonly myself: ClusterNode;
  readonly shardId: string;
  readonly migrations: readonly SlotMigration[];
}

/** The table that Valkey keeps on disk. */
export type NodesConfReader = () => Promise<readonly ClusterNode[]>;

/** One round trip. */
export async function askValkey(
  connection: Connection,
  options: { readonly timeoutMs: number; readonly withMigrations: boolean; readonly readNodesConf?: NodesConfReader },
): Promise<ValkeyFacts> {
  const call = (...args: string[]) => connection.call(args, { timeoutMs: options.timeoutMs });
  const [text, cluster] = await Promise.all([
    call('INFO', 'server', 'memory', 'persistence', 'replication', 'keyspace'),
    askCluster(call, options).catch(nothingWhileLoading),
  ]);
  const info = parseInfo(expectText(text));
  const { server } = info;
  if (!server) throw new Error('INFO has no section Server');
  return { at: new Date(), info: { ...info, server }, cluster };
}

type Call = (...args: string[]) => ReturnType<Connection['call']>;

async function askCluster(
  call: Call,
  { withMigrations, readNodesConf }: Parameters<typeof askValkey>[1],
): Promise<ClusterFacts> {
  const [info, table, shardId, migrations, saved] = await Promise.all([
    call('CLUSTER', 'INFO'),
    call('CLUSTER', 'NODES'),
    call('CLUSTER', 'MYSHARDID'),
    withMigrations ? call('CLUSTER', 'GETSLOTMIGRATIONS') : [],
    readNodesConf?.() ?? [],
  ]);
  const nodes = withBusAddresses(parseClusterNodes(expectText(table)), saved);
  const myself = nodes.find((node) => node.myself);
  if (!myself) throw new Error('CLUSTER NODES has no line of the node itself');
  return {
    info: parseClusterInfo(expectText(info)),
    nodes,
    myself,
    shardId: expectText(shardId),
    migrations: parseSlotMigrations(migrations),
  };
}

function nothingWhileLoading(error: unknown): undefined {
  if (error instanceof ValkeyError && error.code === 'LOADING') return undefined;
  throw error;
}
