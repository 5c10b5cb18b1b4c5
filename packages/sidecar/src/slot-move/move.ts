import type { SlotSet } from '@valkey-operator/valkey';
import type { Connection } from '@valkey-operator/valkey/connection';
import type { KeptKeys } from './kept-keys.ts';

/** Slots that shall go from the Valkey of this pod to another primary. */
export interface MoveOrder {
  readonly slots: SlotSet;
  readonly target: { readonly nodeId: string; readonly ip: string; readonly port: number };
  readonly method: 'atomic' | 'by-key';
  /** Atomic: the most keys that change hands at once. */
  readonly keysAtOnce: number;
  /** It ends after this time, between two slots, whatever is left. */
  readonly timeLimitMs: number;
}

/** What a way of moving slots works with. */
export interface MoveTools {
  readonly order: MoveOrder;
  readonly sourceId: string;
  /** A connection to the Valkey of this pod. */
  readonly source: Connection;
  /** A new one, to the Valkey of this pod, to the target's. */
  readonly openSource: () => Promise<Connection>;
  readonly openTarget: () => Promise<Connection>;
  /** The time is over: no slot is begun any more, but what is begun is finished. */
  readonly stop: AbortSignal;
  /** Whatever is under way ends now, if need be with a slot left open. Implies `stop`. */
  readonly cancelled: AbortSignal;
  /** Key by key: what has left and may not be safe yet. */
  readonly kept: KeptKeys;
  /** Slots that have arrived, and how many keys they had. */
  readonly onMoved: (slots: SlotSet, keys: number) => void;
  /** A key that people should know of: too large to go with others, or impossible to move. */
  readonly onNotableKey: (text: string) => void;
}

/** Moves the slots; returns when all have arrived or `stop` was heeded, throws what keeps them from moving. */
export type MoveSlots = (tools: MoveTools, keys: ReadonlyMap<number, number>) => Promise<void>;

/** What keeps slots from moving, in words for people. */
export class MoveFailed extends Error {
  override readonly name = 'MoveFailed';
}

/** Nothing that is sent to this target arrives, so that nothing more should be. */
export class TargetSilent extends MoveFailed {}
