import {
  type ClusterNode,
  expectText,
  parseClusterNodes,
  parseClusterShards,
  type RespValue,
} from '@valkey-operator/valkey';
import { connect } from '@valkey-operator/valkey/connection';

const TIMEOUT_MS = 1000;

type Call = (...args: string[]) => Promise<RespValue>;

/**
 * The replicas that this primary takes for its own, in its own shard. Of others it hears by gossip, which is behind for some
 * seconds after a node was made a replica. A failover to one that it does not take for a replica is not heard, and one to a
 * node that it counts to another shard makes it a primary without slots that keeps its keys, and not a replica.
 */
export async function listAccepted(call: Call): Promise<string[]> {
  const [table, shards] = await Promise.all([call('CLUSTER', 'NODES'), call('CLUSTER', 'SHARDS')]);
  const nodes = parseClusterNodes(expectText(table));
  const own = nodes.find(({ myself }) => myself)?.id ?? '';
  const mates = new Set(parseClusterShards(shards).find((ids) => ids.includes(own)));
  return nodes.filter(({ id, primaryId }) => primaryId === own && mates.has(id)).map(({ id }) => id);
}

/** The same by the word of another node. */
export async function askForAccepted({ ip, port }: Pick<ClusterNode, 'ip' | 'port'>): Promise<string[]> {
  using connection = await connect({ address: { host: ip, port }, timeoutMs: TIMEOUT_MS });
  return await listAccepted((...args) => connection.call(args, { timeoutMs: TIMEOUT_MS }));
}
