import { SlotSet } from '@valkey-operator/valkey';
import type { NodeClusterView, SlotMoveView } from '../snapshot.ts';

/** A line of a node's table. */
export interface Line {
  readonly id: string;
  readonly hostname: string;
  ip: string;
  clientIp?: string | undefined;
  epoch: number;
  slots: SlotSet;
  primaryId: string | undefined;
  connected: boolean;
  failing: 'no' | 'suspected' | 'agreed';
}

/** What nodes.conf holds. */
export interface Identity {
  readonly id: string;
  epoch: number;
  role: 'primary' | 'replica';
  primaryId: string | undefined;
  slots: SlotSet;
  /** Slots that a move key by key has left open here, and the other end of it. */
  importing: Map<number, string>;
  migrating: Map<number, string>;
  table: Map<string, Line>;
}

/** As much of a Valkey node as decisions depend on: who it is, what it owns, what it knows, and which slots' keys it has. */
export interface SimulatedNode extends Identity {
  data: SlotSet;
  offset: number;
  linkUp: boolean;
  syncing: boolean;
  syncedOnce: boolean;
  /** Ids that it forgot and does not listen to for a while. */
  bans: Map<string, number>;
  /** What its sidecar was ordered to move away, and how. */
  search?: NonNullable<NodeClusterView['search']> & { readonly at: number };
  move: (SlotMoveView & { readonly method: 'atomic' | 'by-key' }) | undefined;
}

export function freshIdentity(id: string): Identity {
  return {
    id,
    epoch: 0,
    role: 'primary',
    primaryId: undefined,
    slots: SlotSet.empty,
    importing: new Map(),
    migrating: new Map(),
    table: new Map(),
  };
}

/** Of what lies on its disk: nobody is connected, and nothing is under way. */
export function startNode(identity: Identity, data: SlotSet): SimulatedNode {
  return {
    ...identity,
    table: new Map(Array.from(identity.table, ([id, line]) => [id, { ...line, connected: false }])),
    data,
    offset: data.isEmpty ? 0 : 1,
    linkUp: false,
    syncing: false,
    syncedOnce: false,
    bans: new Map(),
    move: undefined,
  };
}

/** Node `listener` hears from `speaker` who it is and what it owns: the rules by which Valkey settles ownership. */
export function hear(listener: SimulatedNode, speaker: SimulatedNode): void {
  const line = listener.table.get(speaker.id);
  if (!line) return;
  line.connected = true;
  line.failing = 'no';
  line.primaryId = speaker.role === 'replica' ? speaker.primaryId : undefined;
  line.epoch = speaker.epoch;
  if (speaker.role === 'replica') {
    line.slots = SlotSet.empty;
    if (listener.primaryId === speaker.id) skip(listener, speaker);
    return;
  }
  let granted = speaker.slots;
  for (const rival of listener.table.values()) {
    if (rival.id === speaker.id || !rival.slots.overlaps(speaker.slots)) continue;
    const overlap = rival.slots.intersection(speaker.slots);
    if (rival.epoch < speaker.epoch) {
      rival.slots = rival.slots.difference(overlap);
      const followsRival = listener.role === 'replica' && listener.primaryId === rival.id;
      if (followsRival && rival.slots.isEmpty && isFailover(speaker, overlap)) follow(listener, speaker.id);
    } else if (rival.epoch > speaker.epoch) {
      granted = granted.difference(overlap);
      // The listener tells the speaker of the later owner, and the speaker gives in, with its keys.
      lose(speaker, overlap, rival);
    }
  }
  const own = listener.role === 'primary' ? listener.slots.intersection(granted) : SlotSet.empty;
  if (!own.isEmpty && listener.epoch < speaker.epoch) lose(listener, own, speaker);
  if (!own.isEmpty && listener.epoch >= speaker.epoch) granted = granted.difference(own);
  line.slots = granted;
}

/** Nobody follows a follower. */
function skip(listener: SimulatedNode, { primaryId }: SimulatedNode): void {
  if (primaryId !== undefined && listener.table.has(primaryId)) follow(listener, primaryId);
}

export function follow(node: SimulatedNode, primaryId: string): void {
  node.role = 'replica';
  node.primaryId = primaryId;
  node.slots = SlotSet.empty;
  node.linkUp = false;
  node.syncing = false;
  node.syncedOnce = false;
}

/** Somebody who has nothing but what was another's took over from it; slots that were moved lead nobody to change sides. */
function isFailover({ slots }: { readonly slots: SlotSet }, taken: SlotSet): boolean {
  return slots.difference(taken).isEmpty;
}

function lose(node: SimulatedNode, slots: SlotSet, to: { readonly id: string; readonly slots: SlotSet }): void {
  if (node.slots.isEmpty) return;
  node.slots = node.slots.difference(slots);
  node.data = node.data.difference(slots);
  if (node.slots.isEmpty && node.table.has(to.id) && isFailover(to, slots)) follow(node, to.id);
}
