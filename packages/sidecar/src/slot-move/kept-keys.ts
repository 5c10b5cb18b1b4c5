import { ValkeyError } from '@valkey-operator/valkey';
import type { Connection } from '@valkey-operator/valkey/connection';

/** A key as it was when it left. */
export interface KeptKey {
  readonly name: Buffer;
  /** What DUMP says. */
  readonly dump: Buffer;
  /** Milliseconds since the epoch; 0: never. */
  readonly expiresAt: number;
}

/**
 * A key that MIGRATE has moved is for a moment on the target alone: gone from the source, and not yet on a replica. Should the
 * target die in that moment, the key would be lost. So the sidecar of the source keeps it until the target has had an order
 * confirmed by its replicas that came after the key.
 */
export class KeptKeys {
  readonly #bySlot = new Map<number, KeptKey[]>();

  keep(slot: number, keys: readonly KeptKey[]): void {
    this.#bySlot.set(slot, [...(this.#bySlot.get(slot) ?? []), ...keys]);
  }

  bytesOf(slot: number): number {
    return (this.#bySlot.get(slot) ?? []).reduce((sum, { name, dump }) => sum + name.length + dump.length, 0);
  }

  /** The replicas of the target have what was kept of the slot. */
  confirm(slot: number): void {
    this.#bySlot.delete(slot);
  }

  /** Brings what was kept of the slot to whoever is its target now. Where a key is, it is the newer one. */
  async bringTo(target: Connection, slot: number, source: Connection): Promise<void> {
    for (const key of this.#bySlot.get(slot) ?? []) if (!(await isThere(source, key.name))) await restore(target, key);
  }

  /** The target is gone for good, and the slot stays where it was. */
  async bringBack(source: Connection, slot: number): Promise<void> {
    for (const key of this.#bySlot.get(slot) ?? []) await restore(source, key);
    this.confirm(slot);
  }
}

/** Of a slot that is open the source answers for the keys that it has, and sends clients elsewhere for the others. */
async function isThere(source: Connection, name: Buffer): Promise<boolean> {
  try {
    return (await source.call(['EXISTS', name])) === 1;
  } catch (error) {
    if (error instanceof ValkeyError && error.code === 'ASK') return false;
    throw error;
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
