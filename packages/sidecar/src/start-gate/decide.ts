import { SlotSet, type ClusterNode } from '@valkey-operator/valkey';
import type { Membership } from '../node-memory.ts';

/** A large cluster needs no vote of all its nodes: beside the replicas of a node so many are asked. */
export const MAX_WITNESSES = 6;

/** What a node of the cluster answered when it was asked in this round. */
export interface PeerAnswer {
  readonly id: string;
  /** Its CLUSTER NODES. */
  readonly nodes: readonly ClusterNode[];
  /** Of its own data; undefined where it would not tell (still loading). */
  readonly keys: number | undefined;
  /** A replica: its link to the primary has been up since its process started, so it has what the primary had. */
  readonly wasLinked: boolean;
}

export interface StartFacts {
  /** From nodes.conf, or from memory where that is lost; undefined for a node that never was a member. */
  readonly last: Membership | undefined;
  readonly hasSnapshot: boolean;
  readonly hasAppendOnlyFile: boolean;
  readonly answers: readonly PeerAnswer[];
  /** The time that the cluster needs to fail over, with reserve, is over. */
  readonly boundReached: boolean;
}

export type StartDecision =
  | { readonly start: true; readonly reason: StartReason }
  /** `bounded`: the sidecar will decide by itself when the time is over; else it takes a person or the operator. */
  | { readonly start: false; readonly message: string; readonly bounded: boolean };

export type StartReason =
  | 'NewNode'
  | 'WasReplica'
  | 'OwnsNoSlots'
  | 'HasNoReplica'
  | 'AnotherPrimaryTookOver'
  | 'NoReplicaHasMoreData'
  | 'NobodyTookOverInTime';

/**
 * Whether a Valkey that asks to start may do so (fault 8). A primary that comes back before the cluster has noticed that it
 * was gone is still primary, and its replicas copy whatever it has: nothing, or an older state. So it stays away, which
 * lets the cluster fail over, until a replica has taken over or it is proven that none has more data than this node.
 */
export function decideStart({ last, answers, boundReached, ...disk }: StartFacts): StartDecision {
  if (!last) return start('NewNode');
  if (last.role === 'replica') return start('WasReplica');
  const slots = findUnheard(last, answers).reduce((all, loan) => all.difference(loan.slots), SlotSet.parse(last.slots));
  if (slots.isEmpty) return start('OwnsNoSlots');
  const replicas = findReplicas(last, answers);
  if (replicas.length === 0) return start('HasNoReplica');
  if (isTakenOver(last, slots, answers)) return start('AnotherPrimaryTookOver');

  const hasData = disk.hasSnapshot || disk.hasAppendOnlyFile;
  const verdicts = replicas.map((id) => judgeReplica(id, last.nodeId, answers, hasData));
  if (verdicts.every((verdict) => verdict === 'harmless')) return start('NoReplicaHasMoreData');

  // Without data of its own there is nothing it could start with that is worth more than waiting.
  if (!hasData) return hold('a replica may have the data that this primary has lost', false);
  // A snapshot may be old; a replica that was linked to this primary has everything that was acknowledged.
  const bounded = disk.hasAppendOnlyFile || !verdicts.includes('followed');
  if (boundReached && bounded) return start('NobodyTookOverInTime');
  return hold('a replica may have more data than this primary; waiting until it takes over', bounded);
}

/** Slots, and who has them. */
export interface Loan {
  readonly ownerId: string;
  readonly slots: SlotSet;
}

/**
 * Slots that this node took over just before it ended, of which nobody has heard: their former owner serves them again, says so
 * itself, and has taken writes since. By epochs the slots would be this node's as soon as it is back, and those writes lost.
 * A slot that its owner has opened to give away key by key is another matter: its keys are here, and that owner has none of them.
 * Only who knows this node counts, and of them it takes enough: one who has lost its table knows nothing, and claims too much.
 */
export function findUnheard({ nodeId, slots, configEpoch, peers }: Membership, answers: readonly PeerAnswer[]): Loan[] {
  const witnesses = answers.filter(({ nodes }) => nodes.some(({ id }) => id === nodeId));
  if (witnesses.length <= Math.min(peers.length, MAX_WITNESSES) / 2) return [];
  const heard = unite(witnesses.flatMap(({ nodes }) => nodes.filter(({ id }) => id === nodeId)));
  const unheard = SlotSet.parse(slots).difference(heard);
  return witnesses.flatMap(({ id, nodes }) => {
    const self = nodes.find(({ myself }) => myself);
    const isFormer = self?.role === 'primary' && self.configEpoch > 0 && self.configEpoch < configEpoch;
    const kept = isFormer ? self.slots.difference(listOpen(self)).intersection(unheard) : SlotSet.empty;
    return kept.isEmpty ? [] : [{ ownerId: id, slots: kept }];
  });
}

/** Who owns slots of this node, as others tell, and has yet to be asked. */
export function listRivals({ nodeId, slots }: Membership, answers: readonly PeerAnswer[]): Set<string> {
  const mine = SlotSet.parse(slots);
  const asked = new Set([nodeId, ...answers.map(({ id }) => id)]);
  const owners = answers.flatMap(({ nodes }) => nodes.filter((node) => !node.slots.intersection(mine).isEmpty));
  return new Set(owners.map(({ id }) => id).filter((id) => !asked.has(id)));
}

function listOpen({ openSlots }: ClusterNode): SlotSet {
  return SlotSet.ofSlots(openSlots.map(({ slot }) => slot));
}

function unite(nodes: readonly ClusterNode[]): SlotSet {
  return nodes.reduce((all, { slots }) => all.union(slots), SlotSet.empty);
}

/**
 * Whether the data of this node lives elsewhere, by the word of a node that answers: its primary is well, or others have taken
 * over its slots. Then its own files are not needed.
 */
export function isDataElsewhere(last: Membership, answers: readonly PeerAnswer[]): boolean {
  if (last.role === 'primary') return last.slots !== '' && isTakenOver(last, SlotSet.parse(last.slots), answers);
  return answers.some(({ nodes }) => {
    const primaryId = nodes.find(({ id }) => id === last.nodeId)?.primaryId;
    return nodes.some(({ id, health, slots }) => id === primaryId && health === 'ok' && !slots.isEmpty);
  });
}

/** Everyone that was, or is now said to be, a replica of this node. */
function findReplicas({ nodeId, peers }: Membership, answers: readonly PeerAnswer[]): string[] {
  const remembered = peers.filter(({ isReplica }) => isReplica).map(({ id }) => id);
  const reported = answers.flatMap(({ nodes }) => nodes.filter(({ primaryId }) => primaryId === nodeId));
  return [...new Set([...remembered, ...reported.map(({ id }) => id)])];
}

/** Every slot of this node is owned by others, by a later decision than the one that gave it to this node. */
function isTakenOver({ nodeId, configEpoch }: Membership, slots: SlotSet, answers: readonly PeerAnswer[]): boolean {
  return answers.some(({ nodes }) => {
    const later = nodes.filter((node) => node.id !== nodeId && node.configEpoch > configEpoch);
    return slots.difference(unite(later)).isEmpty;
  });
}

/** `followed`: it has been in step with this primary; `unknown`: nothing proves that it has not more data. */
type ReplicaVerdict = 'harmless' | 'followed' | 'unknown';

function judgeReplica(id: string, primaryId: string, answers: readonly PeerAnswer[], hasData: boolean): ReplicaVerdict {
  const own = answers.find((answer) => answer.id === id);
  const follows = own?.nodes.find(({ myself }) => myself)?.primaryId;
  // It has moved to another shard and has that one's data.
  if (follows !== undefined && follows !== primaryId) return 'harmless';
  if (own?.wasLinked) return 'followed';
  // It has what its disk had at best, and so have we: then ours counts. Without ours, it must be proven empty.
  if (own?.keys !== undefined) return own.keys === 0 || hasData ? 'harmless' : 'unknown';
  if (own || answers.length === 0) return 'unknown';
  // Silent: gone if every witness has it as failed, which a majority has agreed on, or does not know it any more.
  const isGone = answers.every(({ nodes }) => {
    const seen = nodes.find((node) => node.id === id);
    return seen === undefined || seen.health === 'failed' || seen.noAddress;
  });
  return isGone ? 'harmless' : 'unknown';
}

function start(reason: StartReason): StartDecision {
  return { start: true, reason };
}

function hold(message: string, bounded: boolean): StartDecision {
  return { start: false, message, bounded };
}
