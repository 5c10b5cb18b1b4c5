import { expectArray, expectInteger, SlotSet, ValkeyError } from '@valkey-operator/valkey';
import type { Connection } from '@valkey-operator/valkey/connection';
import { BATCH_BYTES, batchKeys } from './batch-keys.ts';
import { isThere, type KeptKey, readHistory } from './kept-keys.ts';
import { MoveFailed, type MoveSlots, type MoveTools, TargetSilent } from './move.ts';
import { Pace } from './pace.ts';
import { ReadGarbage } from './read-garbage.ts';

/** Slots under way at once. Each order to open or close one waits for the replicas, and meanwhile others can go on. */
const WORKERS = 8;
/** A key this large is named, and nothing of it is read: it would take all the memory that there is here. */
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
  const shared = { pace: new Pace(), garbage: new ReadGarbage() };
  const work = async () => {
    using source = await tools.openSource();
    using target = await tools.openTarget();
    const ends = { source, target, history: await readHistory(target) };
    for (let slot = queue.shift(); slot !== undefined; slot = queue.shift()) {
      if (tools.stop.aborted) return;
      await moveSlot(slot, ends, tools, shared);
      tools.onMoved(SlotSet.ofSlots([slot]), keys.get(slot) ?? 0);
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(WORKERS, queue.length) }, work));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
};

/** By all that move at the same time. */
interface Shared {
  readonly pace: Pace;
  readonly garbage: ReadGarbage;
}

interface Ends {
  readonly source: Connection;
  readonly target: Connection;
  /** What the target has now goes into these data. */
  readonly history: string;
}

async function moveSlot(
  slot: number,
  { source, target, history }: Ends,
  tools: MoveTools,
  shared: Shared,
): Promise<void> {
  const { order, sourceId, kept } = tools;
  const set = (end: Connection, ...words: string[]) =>
    end.call(['CLUSTER', 'SETSLOT', String(slot), ...words], { timeoutMs: TIMEOUT_MS });
  // Valkey answers to any of these when the replicas have it, and with it all keys that came before.
  const open = () => set(target, 'IMPORTING', sourceId).then(() => kept.confirm(slot, history));
  const isOpened = await open().then(() => true, unlessOwner);
  if (isOpened) {
    await set(source, 'MIGRATING', order.target.nodeId);
    await kept.bringTo(target, slot, source, history);
    await kept.takeBack(target, slot);
    try {
      await empty(slot, { source, history }, tools, { ...shared, confirm: open });
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

interface Way extends Shared {
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
  { pace, garbage, confirm }: Way,
): Promise<void> {
  const keepSent = (sent: readonly KeptKey[], doubtful: readonly KeptKey[]) => {
    tools.kept.keep(slot, sent, history);
    tools.kept.doubt(slot, doubtful);
  };
  for (const batch of await batchKeys(source, keys)) {
    tools.cancelled.throwIfAborted();
    const isLarge = batch.bytes >= LARGE_BYTES;
    for (const key of isLarge ? batch.keys : [])
      tools.onNotableKey(`${quote(key)} has ${Math.round(batch.bytes / 1024 / 1024)} MiB`);
    const keep = isLarge ? undefined : keepSent;
    const timeoutMs = isLarge ? LARGE_TIMEOUT_MS : MIGRATE_TIMEOUT_MS;
    const makeSafe = async () => void (tools.kept.bytesOf(slot) >= KEPT_BYTES && (await confirm()));
    // Of keys that are larger than a batch one is kept at a time: nothing else moves until it is safe.
    const inTurn = batch.bytes > BATCH_BYTES ? makeSafe : undefined;
    await pace.run(() => migrate(source, batch.keys, tools, { keep, timeoutMs }), inTurn);
    await makeSafe();
    if (keep) garbage.add(batch.bytes);
  }
}

interface Migration {
  /** What left is kept until it is safe; not if it is too large for that. */
  readonly keep: ((sent: readonly KeptKey[], doubtful: readonly KeptKey[]) => void) | undefined;
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

/** In one transaction, so that what is kept is what leaves; and no more than that: what stays clients may delete. */
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
  const queued = [['MULTI'], ...reads, command, ['EXISTS', ...keys]].map((each) => source.call(each, { timeoutMs }));
  const executed = source.call(['EXEC'], { timeoutMs, binary: true });
  // What is refused when it is queued says why; that nothing is executed then does not.
  const [refusal] = (await Promise.allSettled(queued)).filter((outcome) => outcome.status === 'rejected');
  if (refusal) {
    await executed.catch(() => undefined);
    throw refusal.reason;
  }
  const replies = expectArray(await executed);
  const [outcome, stayed] = replies.slice(-2);
  const read = keys.flatMap((name, index) => {
    const [dump, expiry] = replies.slice(2 * index, 2 * index + 2);
    return Buffer.isBuffer(dump) ? [{ name, dump, expiresAt: Math.max(0, expectInteger(expiry)) }] : [];
  });
  const sent = await findSent(source, read, expectInteger(stayed));
  const isUnanswered = outcome instanceof ValkeyError && outcome.code === 'IOERR';
  keep(sent, isUnanswered ? read.filter((key) => !sent.includes(key)) : []);
  if (outcome instanceof ValkeyError) throw outcome;
}

/** As a rule all or none. Which ones is asked only of a batch that was cut short: always, it would take a fifth longer. */
async function findSent(source: Connection, read: readonly KeptKey[], stayed: number): Promise<readonly KeptKey[]> {
  if (stayed === 0) return read;
  if (stayed === read.length) return [];
  const there = await Promise.all(read.map(({ name }) => isThere(source, name)));
  return read.filter((_key, index) => !there[index]);
}

const SHOWN_BYTES = 100;

/** Printable whatever it holds, and not longer than a line. */
function quote(key: Buffer): string {
  const text = JSON.stringify(key.subarray(0, SHOWN_BYTES).toString('latin1'));
  return key.length > SHOWN_BYTES ? `${text}...` : text;
}
