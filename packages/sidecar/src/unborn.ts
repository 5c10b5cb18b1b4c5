import { randomBytes } from 'node:crypto';
import { SlotSet, type ClusterInfo, type ClusterNode, type ReplicationInfo } from '@valkey-operator/valkey';

/** No id that Valkey draws begins like this. */
const STAND_IN = '0'.repeat(24);

/**
 * The table that a new node starts with. A primary of Valkey serves nothing for the first two seconds of its process, and
 * for some more when it was in a minority, which a node without slots is by its own count: it may have missed a failover.
 * A new node cannot have missed one. So it starts as the replica of a stand-in, in a cluster of which another stand-in owns
 * a slot: then Valkey finds nothing to wait for, and the node serves as soon as it is given slots (ADR 23).
 * Of the stand-ins no other node ever hears: Valkey tells nobody of nodes without an address or in a handshake.
 */
export function renderUnbornTable(podName: string): string {
  const draw = (bytes: number) => randomBytes(bytes).toString('hex');
  const [ownId, shardId, family] = [draw(20), draw(20), `${STAND_IN}${draw(7)}`];
  const [leader, owner] = [`${family}01`, `${family}02`];
  // The epoch of its first slots is the next one: each primary has another, so that none outranks its peers by chance.
  const ordinal = Number(/\d+$/.exec(podName)?.[0] ?? 0);
  return [
    `${ownId} :0@0,,shard-id=${shardId} myself,slave ${leader} 0 0 0 connected`,
    `${leader} :0@0,,shard-id=${shardId} master,noaddr - 0 0 0 disconnected`,
    `${owner} 127.0.0.1:1@1 master,handshake - 0 0 0 disconnected 0`,
    `vars currentEpoch ${ordinal} lastVoteEpoch 0`,
    '',
  ].join('\n');
}

/**
 * Makes an unborn node a primary. A script, because it must look and act in one: whoever takes over from a primary that
 * exists takes its slots.
 */
export const BECOME_PRIMARY = [
  'EVAL',
  `if string.find(redis.call('CLUSTER', 'NODES'), 'myself,slave ${STAND_IN}', 1, true) then
return redis.call('CLUSTER', 'FAILOVER', 'TAKEOVER') end`,
  '0',
] as const;

/** Whether the node that wrote this table is yet to get slots or a primary. */
export function isUnborn(nodes: readonly ClusterNode[]): boolean {
  return nodes.some(({ myself, primaryId }) => myself && primaryId?.startsWith(STAND_IN));
}

export function listStandIns(nodes: readonly ClusterNode[]): ClusterNode[] {
  return nodes.filter(({ id }) => id.startsWith(STAND_IN));
}

/** The table as others are to see it: a node that is yet to be born is a primary without slots, and knows nobody. */
export function hideStandIns(nodes: readonly ClusterNode[]): ClusterNode[] {
  return nodes
    .filter(({ id }) => !id.startsWith(STAND_IN))
    .map((node) => (node.primaryId?.startsWith(STAND_IN) ? { ...node, role: 'primary', primaryId: undefined } : node));
}

/** Slots that only a stand-in owns are owned by nobody, and without them the cluster is not well. */
export function discountStandIns(info: ClusterInfo, standIns: readonly ClusterNode[]): ClusterInfo {
  const owned = standIns.reduce((all, { slots }) => all.union(slots), SlotSet.empty).count;
  if (owned === 0) return info;
  return { ...info, state: 'fail', slotsAssigned: info.slotsAssigned - owned, slotsOk: info.slotsOk - owned };
}

export function asPrimary(replication: ReplicationInfo): ReplicationInfo {
  return { ...replication, role: 'primary', primary: undefined };
}
