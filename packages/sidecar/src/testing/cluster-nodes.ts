import { SlotSet, type ClusterNode } from '@valkey-operator/valkey';

/** A line of CLUSTER NODES: a healthy primary without slots, unless told otherwise. */
export function aNode(id: string, change: Partial<Omit<ClusterNode, 'slots'>> & { slots?: string } = {}): ClusterNode {
  const { slots = '', ...rest } = change;
  return {
    id,
    ip: `10.0.0.${id.length}`,
    port: 6379,
    busPort: 16_379,
    hostname: '',
    aux: new Map(),
    myself: false,
    role: change.primaryId === undefined ? 'primary' : 'replica',
    primaryId: undefined,
    health: 'ok',
    handshake: false,
    noAddress: false,
    noFailover: false,
    pingSentAt: 0,
    pongReceivedAt: 0,
    configEpoch: 1,
    linkConnected: true,
    slots: SlotSet.parse(slots),
    openSlots: [],
    ...rest,
  };
}
