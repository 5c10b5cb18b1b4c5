import { expectArray, ValkeyError } from '@valkey-operator/valkey';
import type { Connection } from '@valkey-operator/valkey/connection';
import { MoveFailed } from './move.ts';

/**
 * Functions (FUNCTION LOAD) belong to no slot, so that no way of moving slots takes them along, and clients expect them on every
 * primary. A new one has none: it gets them before its first slot. One that has some was given these by somebody who knows why.
 */
export async function bringFunctions(source: Connection, openTarget: () => Promise<Connection>): Promise<void> {
  if (!(await hasFunctions(source))) return;
  using target = await openTarget();
  if (await hasFunctions(target)) return;
  const dump = await source.call(['FUNCTION', 'DUMP'], { binary: true });
  if (!Buffer.isBuffer(dump)) throw new MoveFailed('the source does not say which functions it has');
  try {
    await target.call(['FUNCTION', 'RESTORE', dump]);
  } catch (error) {
    // Another source has just brought them.
    if (!(error instanceof ValkeyError && /already exists/i.test(error.message))) throw error;
  }
}

async function hasFunctions(node: Connection): Promise<boolean> {
  return expectArray(await node.call(['FUNCTION', 'LIST'])).length > 0;
}
