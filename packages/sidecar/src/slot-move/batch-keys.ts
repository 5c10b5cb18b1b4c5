import { expectArray, expectInteger, ValkeyError } from '@valkey-operator/valkey';
import type { Connection } from '@valkey-operator/valkey/connection';

/** What is read of keys that move passes through this process, which has little memory: no more than this at once, if it is several. */
export const BATCH_BYTES = 1024 * 1024;

/** Keys that move together. */
export interface Batch {
  readonly keys: readonly Buffer[];
  readonly bytes: number;
}

/**
 * Divides keys in their order: pairs of how many there are and how large they are together. One command however many there are.
 * All elements are looked at: by a sample of them a key may seem small that is not, and to move them takes longer anyway.
 */
const DIVIDE = `local batches = {}
local limit = tonumber(ARGV[1])
for _, key in ipairs(KEYS) do
  local bytes = redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0') or 0
  local last = batches[#batches]
  if last and last[2] + bytes <= limit then
    last[1] = last[1] + 1
    last[2] = last[2] + bytes
  else
    table.insert(batches, {1, bytes})
  end
end
return batches`;

/** Batches of bounded size, less what has vanished; a key that is larger than that alone. */
export async function batchKeys(source: Connection, keys: readonly Buffer[]): Promise<Batch[]> {
  try {
    const reply = await source.call(['EVAL_RO', DIVIDE, String(keys.length), ...keys, String(BATCH_BYTES)]);
    let first = 0;
    return expectArray(reply).map((entry) => {
      const [count = 0, bytes = 0] = expectArray(entry).map(expectInteger);
      return { keys: keys.slice(first, (first += count)), bytes };
    });
  } catch (error) {
    if (!(error instanceof ValkeyError && ['ASK', 'TRYAGAIN'].includes(error.code))) throw error;
    // One of them has just vanished, and Valkey refuses them all. Which one shows when they are divided.
    if (keys.length === 1) return [];
    const middle = Math.ceil(keys.length / 2);
    const halves = [keys.slice(0, middle), keys.slice(middle)];
    return (await Promise.all(halves.map((half) => batchKeys(source, half)))).flat();
  }
}
