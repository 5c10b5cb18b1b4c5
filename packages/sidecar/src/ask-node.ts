import {
  type ClusterNode,
  expectText,
  parseClusterNodes,
  parseClusterShards,
  parseInfo,
} from '@valkey-operator/valkey';
import { connect } from '@valkey-operator/valkey/connection';

export type Address = Pick<ClusterNode, 'id' | 'ip' | 'port'>;

/** What a node says to any client: its table, and who is in a shard with whom. */
export interface NodeWord {
  readonly nodes: readonly ClusterNode[];
  readonly shards: readonly (readonly string[])[];
}

const TIMEOUT_MS = 500;

export async function askNode({ ip, port }: Address): Promise<NodeWord> {
  using connection = await connect({ address: { host: ip, port }, timeoutMs: TIMEOUT_MS });
  const call = (...args: string[]) => connection.call(args, { timeoutMs: TIMEOUT_MS });
  const [table, shards] = await Promise.all([call('CLUSTER', 'NODES'), call('CLUSTER', 'SHARDS')]);
  return { nodes: parseClusterNodes(expectText(table)), shards: parseClusterShards(shards) };
}

/** How far a primary has written, or a replica has followed, by its own word. */
export async function askOffset({ ip, port }: Address): Promise<number | undefined> {
  using connection = await connect({ address: { host: ip, port }, timeoutMs: TIMEOUT_MS });
  const info = parseInfo(expectText(await connection.call(['INFO', 'replication'], { timeoutMs: TIMEOUT_MS })));
  return info.replication?.offset;
}

export function findSelf({ nodes }: NodeWord): ClusterNode | undefined {
  return nodes.find(({ myself }) => myself);
}
