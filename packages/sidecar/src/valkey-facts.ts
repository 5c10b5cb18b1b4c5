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
import type { Connection } from '@valkey-operator/valkey/connection';
import { withBusAddresses } from './bus-addresses.ts';
import { asPrimary, discountStandIns, hideStandIns, isUnborn, listStandIns } from './unborn.ts';

/** What Valkey says of itself at one moment. */
export interface ValkeyFacts {
  readonly at: Date;
  /** By the clock of this process: whatever had happened by then is seen. */
  readonly askedAt: number;
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
  /** Yet to get its first slots, or a primary to follow. */
  readonly unborn: boolean;
  /** What is not among the nodes, because only this one has it in its table (unborn.ts). */
  readonly standIns: readonly ClusterNode[];
}

/** The table that Valkey keeps on disk. */
export type NodesConfReader = () => Promise<readonly ClusterNode[]>;

/** One round trip. */
export async function askValkey(
  connection: Connection,
  options: { readonly timeoutMs: number; readonly withMigrations: boolean; readonly readNodesConf?: NodesConfReader },
): Promise<ValkeyFacts> {
  const askedAt = performance.now();
  const call = (...args: string[]) => connection.call(args, { timeoutMs: options.timeoutMs });
  const [text, cluster] = await Promise.all([
    call('INFO', 'server', 'memory', 'persistence', 'replication', 'keyspace'),
    askCluster(call, options).catch(nothingWhileLoading),
  ]);
  const info = parseInfo(expectText(text));
  const { server, replication } = info;
  if (!server) throw new Error('INFO has no section Server');
  const shown = cluster?.unborn && replication ? asPrimary(replication) : replication;
  return { at: new Date(), askedAt, info: { ...info, server, replication: shown }, cluster };
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
  const all = withBusAddresses(parseClusterNodes(expectText(table)), saved);
  const standIns = listStandIns(all);
  const nodes = hideStandIns(all);
  const myself = nodes.find((node) => node.myself);
  if (!myself) throw new Error('CLUSTER NODES has no line of the node itself');
  return {
    info: discountStandIns(parseClusterInfo(expectText(info)), standIns),
    nodes,
    myself,
    shardId: expectText(shardId),
    migrations: parseSlotMigrations(migrations),
    unborn: isUnborn(all),
    standIns,
  };
}

function nothingWhileLoading(error: unknown): undefined {
  if (error instanceof ValkeyError && error.code === 'LOADING') return undefined;
  throw error;
}
