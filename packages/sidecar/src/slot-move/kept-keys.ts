import { expectText, type SlotSet, ValkeyError } from '@valkey-operator/valkey';
import type { Connection } from '@valkey-operator/valkey/connection';
import { MoveFailed } from './move.ts';

/** A key as it was when it left. */
export interface KeptKey {
  readonly name: Buffer;
  /** What DUMP says. */
  readonly dump: Buffer;
  /** Milliseconds since the epoch; 0: never. */
  readonly expiresAt: number;
}

interface SentKey extends KeptKey {
  /** The data that it went into. Others may lack it; from these only somebody who deleted it can have taken it. */
  readonly history: string;
}

/**
 * A key that MIGRATE has moved is for a moment on the target alone: gone from the source, and not yet on a replica. Should the
 * target die in that moment, the key would be lost. So the sidecar of the source keeps it until the target has had an order
 * confirmed by its replicas that came after the key. No longer: what is brought again could be something that was deleted.
 */
export class KeptKeys {
  readonly #bySlot = new Map<number, SentKey[]>();
  /** Sent to a target that has not answered. The source has them still, and the target may have them too, or when it wakes up. */
  readonly #doubtful = new Map<number, readonly KeptKey[]>();

  keep(slot: number, keys: readonly KeptKey[], history: string): void {
    const sent = keys.map((key) => ({ ...key, history }));
    this.#bySlot.set(slot, [...(this.#bySlot.get(slot) ?? []), ...sent]);
  }

  bytesOf(slot: number): number {
    return (this.#bySlot.get(slot) ?? []).reduce((sum, { name, dump }) => sum + name.length + dump.length, 0);
  }

  /** The replicas of the target have what was kept of the slot: all, or what went into these data of its. */
  confirm(slot: number, history?: string): void {
    const others = (this.#bySlot.get(slot) ?? []).filter((key) => history !== undefined && key.history !== history);
    if (others.length > 0) this.#bySlot.set(slot, others);
    else this.#bySlot.delete(slot);
    if (history === undefined) this.#doubtful.delete(slot);
  }

  /** Of slots that are not on their way any more nothing is missing: they are with whoever has the keys. */
  retain(onTheirWay: SlotSet): void {
    for (const slot of [...this.#bySlot.keys(), ...this.#doubtful.keys()])
      if (!onTheirWay.has(slot)) this.confirm(slot);
  }

  doubt(slot: number, keys: readonly KeptKey[]): void {
    if (keys.length > 0) this.#doubtful.set(slot, [...(this.#doubtful.get(slot) ?? []), ...keys]);
  }

  /** Whoever deletes such a key at the source would find it again at the target, where nobody was told of that. */
  async takeBack(target: Connection, slot: number): Promise<void> {
    for (const key of this.#doubtful.get(slot) ?? []) await removeIfSame(target, key);
    this.#doubtful.delete(slot);
  }

  /** Brings what was kept of the slot to whoever is its target now. Where a key is, it is the newer one. */
  async bringTo(target: Connection, slot: number, source: Connection, history: string): Promise<void> {
    const kept = this.#bySlot.get(slot) ?? [];
    for (const [index, key] of kept.entries()) {
      if (!(await isThere(source, key.name))) await restore(target, key);
      kept[index] = { ...key, history };
    }
  }

  /** The target is gone for good, and the slot stays where it was. */
  async bringBack(source: Connection, slot: number): Promise<void> {
    for (const key of this.#bySlot.get(slot) ?? []) await restore(source, key);
    this.confirm(slot);
  }
}

/** As Valkey calls it: another name after a restart, and when a replica took over, who may lack what was written last. */
export async function readHistory(node: Connection): Promise<string> {
  const [, name] = /^master_replid:(\w+)/m.exec(expectText(await node.call(['INFO', 'replication']))) ?? [];
  if (name === undefined) throw new MoveFailed('the target does not say which data it has');
  return name;
}

/** Of a slot that is open the source answers for the keys that it has, and sends clients elsewhere for the others. */
export async function isThere(source: Connection, name: Buffer): Promise<boolean> {
  try {
    return (await source.call(['EXISTS', name])) === 1;
  } catch (error) {
    if (error instanceof ValkeyError && error.code === 'ASK') return false;
    throw error;
  }
}

/** What a client has written there since is another one. */
const REMOVE_IF_SAME = `if redis.call('DUMP', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`;

async function removeIfSame(node: Connection, { name, dump }: KeptKey): Promise<void> {
  const asked = node.call(['ASKING']);
  try {
    await node.call(['EVAL', REMOVE_IF_SAME, '1', name, dump]);
  } finally {
    await asked;
  }
}

async function restore(node: Connection, { name, dump, expiresAt }: KeptKey): Promise<void> {
  // One tick, one connection, so that nothing can come between them.
  const asked = node.call(['ASKING']);
  try {
    await node.call(['RESTORE', name, String(expiresAt), dump, 'ABSTTL']);
  } catch (error) {
    if (!(error instanceof ValkeyError && error.code === 'BUSYKEY')) throw error;
  } finally {
    await asked;
  }
}
