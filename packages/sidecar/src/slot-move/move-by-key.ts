import { expectArray, expectInteger, SlotSet, ValkeyError } from '@valkey-operator/valkey';
import type { Connection } from '@valkey-operator/valkey/connection';
import { type KeptKey, readHistory } from './kept-keys.ts';
import { MoveFailed, type MoveSlots, type MoveTools, TargetSilent } from './move.ts';
import { Pace } from './pace.ts';

/** Slots under way at once. Each order to open or close one waits for the replicas, and meanwhile others can go on. */
const WORKERS = 8;
/** A key this large goes alone, so that nothing else waits with it. */
const LARGE_BYTES = 32 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
/** The source serves nobody while it waits for the target. Longer, and others would think that it has failed. */
const MIGRATE_TIMEOUT_MS = 3000;
const LARGE_TIMEOUT_MS = 60_000;
/** So much of a slot is kept here before its keys are known to be safe. */
const KEPT_BYTES = 1024 * 1024;

/**
 * Before Valkey 9, slot by slot and key by key: opened at both ends, emptied by MIGRATE, given to the target and then taken
 * from the source. In this order a slot always has an owner, and a slot that is left open is finished by doing it again.
 */
export const moveByKey: MoveSlots = async (tools, keys) => {
  const queue = [...tools.order.slots];
  const pace = new Pace();
  const work = async () => {
    using source = await tools.openSource();
    using target = await tools.openTarget();
    const ends = { source, target, history: await readHistory(target) };
    for (let slot = queue.shift(); slot !== undefined; slot = queue.shift()) {
      if (tools.stop.aborted) return;
      await moveSlot(slot, ends, tools, pace);
      tools.onMoved(SlotSet.ofSlots([slot]), keys.get(slot) ?? 0);
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(WORKERS, queue.length) }, work));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
};

interface Ends {
  readonly source: Connection;
  readonly target: Connection;
  /** What the target has now goes into these data. */
  readonly history: string;
}

async function moveSlot(slot: number, { source, target, history }: Ends, tools: MoveTools, pace: Pace): Promise<void> {
  const { order, sourceId, kept } = tools;
  const set = (end: Connection, ...words: string[]) =>
    end.call(['CLUSTER', 'SETSLOT', String(slot), ...words], { timeoutMs: TIMEOUT_MS });
  // Valkey answers to any of these when the replicas have it, and with it all keys that came before.
  const open = () => set(target, 'IMPORTING', sourceId).then(() => kept.confirm(slot, history));
  const isOpened = await open().then(() => true, unlessOwner);
  if (isOpened) {
    await set(source, 'MIGRATING', order.target.nodeId);
    await kept.bringTo(target, slot, source, history);
    try {
      await empty(slot, { source, history }, tools, { pace, confirm: open });
      await set(target, 'NODE', order.target.nodeId);
    } catch (error) {
      // Until the next attempt clients may delete what has left; by then it must be known to have arrived.
      if (!tools.cancelled.aborted && !(error instanceof TargetSilent)) await open().catch(() => undefined);
      throw error;
    }
  }
  kept.confirm(slot);
  await set(source, 'NODE', order.target.nodeId);
}

/** The target owns it already: the move was cut short between the last two steps. */
function unlessOwner(error: unknown): false {
  if (error instanceof ValkeyError && /already the owner/i.test(error.message)) return false;
  throw error;
}

interface Way {
  readonly pace: Pace;
  /** Resolves when the replicas of the target have all that it has. */
  readonly confirm: () => Promise<unknown>;
}

type From = Omit<Ends, 'target'>;

async function empty(slot: number, from: From, tools: MoveTools, way: Way): Promise<void> {
  for (;;) {
    tools.cancelled.throwIfAborted();
    const count = way.pace.batchSize;
    const listing = ['CLUSTER', 'GETKEYSINSLOT', String(slot), String(count)];
    const keys = expectArray(await from.source.call(listing, { binary: true })).filter((key) => Buffer.isBuffer(key));
    if (keys.length > 0) await moveKeys(slot, keys, from, tools, way);
    // None is added while the slot is open: where a key is not, clients are sent to the target.
    if (keys.length < count) return;
  }
}

async function moveKeys(
  slot: number,
  keys: readonly Buffer[],
  { source, history }: From,
  tools: MoveTools,
  { pace, confirm }: Way,
): Promise<void> {
  const keep = (sent: readonly KeptKey[]) => tools.kept.keep(slot, sent, history);
  const large = await findLarge(source, keys);
  for (const [key, bytes] of large) {
    tools.onNotableKey(`${quote(key)} has ${Math.round(bytes / 1024 / 1024)} MiB`);
    await pace.run(() => migrate(source, [key], tools, { keep: undefined, timeoutMs: LARGE_TIMEOUT_MS }));
  }
  const others = keys.filter((key) => !large.has(key));
  if (others.length > 0) await pace.run(() => migrate(source, others, tools, { keep, timeoutMs: MIGRATE_TIMEOUT_MS }));
  if (tools.kept.bytesOf(slot) >= KEPT_BYTES) await confirm();
}

/** Which of the keys are large, and how large: pairs of numbers. One command however many there are. */
const FIND_LARGE = `local large = {}
for index, key in ipairs(KEYS) do
  local bytes = redis.call('MEMORY', 'USAGE', key)
  if bytes and bytes > tonumber(ARGV[1]) then
    table.insert(large, {index, bytes})
  end
end
return large`;

async function findLarge(source: Connection, keys: readonly Buffer[]): Promise<Map<Buffer, number>> {
  const command = ['EVAL_RO', FIND_LARGE, String(keys.length), ...keys, String(LARGE_BYTES)];
  // Where one of them has just vanished Valkey refuses them all; then they move without having been looked at.
  const found = await source.call(command).catch(unlessVanished);
  const measured = expectArray(found).map((entry) => expectArray(entry).map(expectInteger));
  return new Map(measured.flatMap(([index = 0, bytes = 0]) => keys.slice(index - 1, index).map((key) => [key, bytes])));
}

function unlessVanished(error: unknown): [] {
  if (error instanceof ValkeyError && ['ASK', 'TRYAGAIN'].includes(error.code)) return [];
  throw error;
}

interface Migration {
  /** What left is kept until it is safe; not if it is too large for that. */
  readonly keep: ((sent: readonly KeptKey[]) => void) | undefined;
  readonly timeoutMs: number;
}

/** Keys may hold any bytes, so they are never taken for text. One that has vanished meanwhile is no error. */
async function migrate(
  source: Connection,
  keys: readonly Buffer[],
  tools: MoveTools,
  { keep, timeoutMs }: Migration,
): Promise<void> {
  const { ip, port } = tools.order.target;
  const command = ['MIGRATE', ip, String(port), '', '0', String(timeoutMs), 'REPLACE', 'KEYS', ...keys];
  try {
    if (!keep) await source.call(command, { timeoutMs: 2 * timeoutMs });
    else await keepAndCall(source, command, keys, { keep, timeoutMs: 2 * timeoutMs });
  } catch (error) {
    if (!(error instanceof ValkeyError)) throw error;
    if (error.code === 'IOERR') throw new TargetSilent(`the target does not answer: ${error.message}`);
    const [key, ...others] = keys;
    if (key && others.length === 0) {
      if (error.code === 'ASK') return; // vanished
      tools.onNotableKey(`${quote(key)} cannot be moved`);
      throw new MoveFailed(`key ${quote(key)} cannot be moved: ${error.message}`);
    }
    // Which one it is shows when each goes alone.
    for (const each of keys) await migrate(source, [each], tools, { keep, timeoutMs });
  }
}

/** In one transaction, so that what is kept is what leaves. */
async function keepAndCall(
  source: Connection,
  command: readonly (string | Buffer)[],
  keys: readonly Buffer[],
  { keep, timeoutMs }: { readonly keep: NonNullable<Migration['keep']>; readonly timeoutMs: number },
): Promise<void> {
  const reads = keys.flatMap((key) => [
    ['DUMP', key],
    ['PEXPIRETIME', key],
  ]);
  const queued = [['MULTI'], ...reads, command].map((each) => source.call(each, { timeoutMs }));
  const executed = source.call(['EXEC'], { timeoutMs, binary: true });
  // What is refused when it is queued says why; that nothing is executed then does not.
  const [refusal] = (await Promise.allSettled(queued)).filter((outcome) => outcome.status === 'rejected');
  if (refusal) {
    await executed.catch(() => undefined);
    throw refusal.reason;
  }
  const replies = expectArray(await executed);
  keep(
    keys.flatMap((name, index) => {
      const [dump, expiry] = replies.slice(2 * index, 2 * index + 2);
      return Buffer.isBuffer(dump) ? [{ name, dump, expiresAt: Math.max(0, expectInteger(expiry)) }] : [];
    }),
  );
  const outcome = replies.at(-1);
  if (outcome instanceof ValkeyError) throw outcome;
}

const SHOWN_BYTES = 100;

/** Printable whatever it holds, and not longer than a line. */
function quote(key: Buffer): string {
  const text = JSON.stringify(key.subarray(0, SHOWN_BYTES).toString('latin1'));
  return key.length > SHOWN_BYTES ? `${text}...` : text;
}
