import { expectArray, expectText, keySlot, ValkeyError } from '@valkey-operator/valkey';
import { connect, type Connection } from '@valkey-operator/valkey/connection';
import type { Member } from './test-cluster.ts';

const PREFIX = 'stock:';
/** On their way at once: what has not been read yet counts as memory of the server. */
const BATCH_BYTES = 500_000;
const ANSWER_MS = 30_000;

/** Keys that nobody touches after they were laid in: none may get lost, and none may be there twice. */
export async function layIn(primaries: readonly Member[], count: number, valueBytes = 16): Promise<void> {
  await setKeys(primaries, nameKeys(PREFIX, count), valueBytes);
}

export function nameKeys(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}

export async function setKeys(primaries: readonly Member[], keys: readonly string[], valueBytes = 16): Promise<void> {
  const value = 'x'.repeat(valueBytes);
  const batchSize = Math.ceil(BATCH_BYTES / (valueBytes + 200));
  const set = (connection: Connection, key: string) => connection.call(['SET', key, value], { timeoutMs: ANSWER_MS });
  await forEachKey(primaries, keys, set, batchSize);
}

/** Those that were there, and that clients therefore take for deleted. Where a key has left a slot that moves, it is not. */
export async function deleteKeys(primaries: readonly Member[], keys: readonly string[]): Promise<string[]> {
  const deleted: string[] = [];
  await forEachKey(primaries, keys, async (connection, key) => {
    const reply = await connection.call(['DEL', key], { timeoutMs: ANSWER_MS }).catch(refusal);
    if (reply === 1) deleted.push(key);
  });
  return deleted;
}

export async function findKeys(primaries: readonly Member[], keys: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  await forEachKey(primaries, keys, async (connection, key) => {
    if ((await connection.call(['EXISTS', key], { timeoutMs: ANSWER_MS })) === 1) found.push(key);
  });
  return found;
}

/** Asks whoever owns it, many at a time; a key that nobody of these owns is left out. */
async function forEachKey(
  primaries: readonly Member[],
  keys: readonly string[],
  ask: (connection: Connection, key: string) => Promise<unknown>,
  batchSize = 1000,
): Promise<void> {
  const shares = primaries.map(({ ip, self }) => ({ ip, keys: keys.filter((key) => self.slots.has(keySlot(key))) }));
  await Promise.all(
    shares.map(async (share) => {
      using connection = await connect({ address: { host: share.ip, port: 6379 }, timeoutMs: ANSWER_MS });
      for (let first = 0; first < share.keys.length; first += batchSize) {
        const batch = share.keys.slice(first, first + batchSize);
        await Promise.all(batch.map((key) => ask(connection, key)));
      }
    }),
  );
}

function refusal(error: unknown): ValkeyError {
  if (error instanceof ValkeyError) return error;
  throw error;
}

/** How many of them all primaries together have, each counted as often as it is there. */
export async function countStock(primaries: readonly Member[]): Promise<number> {
  const counts = await Promise.all(primaries.map(({ ip }) => countOn(ip)));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function countOn(ip: string): Promise<number> {
  using connection = await connect({ address: { host: ip, port: 6379 }, timeoutMs: ANSWER_MS });
  const found = new Set<string>();
  let cursor = '0';
  do {
    const scan = ['SCAN', cursor, 'MATCH', `${PREFIX}*`, 'COUNT', '2000'];
    const [next, keys] = expectArray(await connection.call(scan, { timeoutMs: ANSWER_MS }));
    for (const key of expectArray(keys)) found.add(expectText(key));
    cursor = expectText(next);
  } while (cursor !== '0');
  return found.size;
}
