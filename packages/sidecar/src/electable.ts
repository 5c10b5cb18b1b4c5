import type { ClusterNode } from '@valkey-operator/valkey';
import { type Address, askNode, findSelf, type NodeWord } from './ask-node.ts';

/**
 * Whether a coordinated failover to this replica comes off at once. Others hear by gossip that it has restarted with another
 * address or was made a replica, some seconds late, and meanwhile writes would stop for nothing:
 * - the old primary does not listen to one that it does not take for its replica, and where it counts it to another shard it
 *   becomes a primary without slots that keeps its keys, instead of its replica;
 * - a primary sends its vote by its own link to the candidate, and to nowhere while it has none; and it gives none to one that
 *   it does not know as the replica of somebody. Valkey asks once, and for as long as it waits nobody writes.
 */
export async function isElectable(
  candidate: Address,
  nodes: readonly ClusterNode[],
  ask: (node: Address) => Promise<NodeWord> = askNode,
): Promise<boolean> {
  const [own, ...voters] = await Promise.all(
    [candidate, ...listVoters(nodes)].map((node) => ask(node).catch((): NodeWord => ({ nodes: [], shards: [] }))),
  );
  // By its own word: where nodes announce other addresses to clients, all of these words have them.
  const self = own && findSelf(own);
  if (!self) return false;
  const isKnown = ({ id, ip, linkConnected, primaryId }: ClusterNode) =>
    id === self.id && ip === self.ip && linkConnected && primaryId === self.primaryId;
  const willing = voters.filter((voter) => voter.nodes.some(isKnown));
  // It may have heard of fewer than there are.
  const all = Math.max(...[own, ...voters].map((word) => listVoters(word.nodes).length));
  return willing.length > all / 2 && willing.some((voter) => isAcceptedBy(voter, self));
}

function listVoters(nodes: readonly ClusterNode[]): ClusterNode[] {
  return nodes.filter(({ role, slots }) => role === 'primary' && !slots.isEmpty);
}

function isAcceptedBy(primary: NodeWord, { id }: ClusterNode): boolean {
  const own = findSelf(primary)?.id ?? '';
  const follows = primary.nodes.some((node) => node.id === id && node.primaryId === own);
  return follows && primary.shards.some((mates) => mates.includes(own) && mates.includes(id));
}
