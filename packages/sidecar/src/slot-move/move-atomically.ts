import { setTimeout as sleep } from 'node:timers/promises';
import { parseSlotMigrations, type SlotMigration, type SlotSet } from '@valkey-operator/valkey';
import type { Connection } from '@valkey-operator/valkey/connection';
import { sumKeys, takeSlots } from './count-keys.ts';
import { MoveFailed, type MoveSlots } from './move.ts';

const POLL_MS = 20;
/** A migration whose state and backlog have not changed for so long is stuck: a frozen target would hold it for ever. */
const STUCK_MS = 20_000;
/** The source takes no writes while a range changes hands. Longer than this is too long: the next ranges are smaller. */
const PAUSE_MS = 100;
const SMALLEST_RANGE = 1000;

/**
 * Valkey 9 moves a range of slots as a whole. While it copies, clients notice nothing. When it hands over, the source pauses,
 * and then it deletes all that it has given away and serves nobody meanwhile, the longer the more keys there are. So ranges
 * are bounded by their keys, and the bound follows the pauses measured.
 */
export const moveAtomically: MoveSlots = async ({ order, openSource, stop, cancelled, onMoved }, keys) => {
  using source = await openSource();
  let left = order.slots;
  let keysAtOnce = order.keysAtOnce;
  while (!left.isEmpty && !stop.aborted) {
    const range = takeSlots(left, keys, divideEvenly(sumKeys(keys, left), keysAtOnce));
    const pausedMs = await migrate(source, range, order.target.nodeId, cancelled);
    if (pausedMs > PAUSE_MS) keysAtOnce = Math.max(SMALLEST_RANGE, Math.ceil(keysAtOnce / 2));
    left = left.difference(range);
    onMoved(range, sumKeys(keys, range));
  }
};

/** As many ranges as need be, and none that is much smaller than the others: each takes its time, however small it is. */
function divideEvenly(keys: number, atMost: number): number {
  return Math.ceil(keys / Math.max(1, Math.ceil(keys / atMost)));
}

/** For how long the source has served nobody. */
async function migrate(source: Connection, slots: SlotSet, targetId: string, cancelled: AbortSignal): Promise<number> {
  const known = new Set((await readMigrations(source)).map(({ name }) => name));
  const ranges = slots.ranges.flatMap(([first, last]) => [String(first), String(last)]);
  await source.call(['CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', ...ranges, 'NODE', targetId]);
  const onCancelled = () => void source.call(['CLUSTER', 'CANCELSLOTMIGRATIONS']).catch(() => undefined);
  cancelled.addEventListener('abort', onCancelled, { once: true });
  try {
    return await waitForEnd(source, known);
  } finally {
    cancelled.removeEventListener('abort', onCancelled);
  }
}

async function waitForEnd(source: Connection, known: ReadonlySet<string>): Promise<number> {
  let changed = { sign: '', at: Date.now() };
  let pausedAt: number | undefined;
  for (;;) {
    const askedAt = Date.now();
    const mine = (await readMigrations(source)).find((each) => each.operation === 'export' && !known.has(each.name));
    if (mine?.state.startsWith('failover')) pausedAt ??= askedAt;
    // Before it answers, the source deletes what it has given away, and nobody is served meanwhile.
    if (mine?.outcome === 'success') return Date.now() - (pausedAt ?? askedAt);
    if (mine && mine.outcome !== 'running') throw new MoveFailed(describe(mine));
    const sign = mine ? `${mine.state} ${mine.remainingBytes}` : 'unknown';
    if (sign !== changed.sign) changed = { sign, at: Date.now() };
    if (Date.now() - changed.at > STUCK_MS) {
      await source.call(['CLUSTER', 'CANCELSLOTMIGRATIONS']);
      throw new MoveFailed(
        `${mine ? describe(mine) : 'the migration is not listed'}: no progress for ${STUCK_MS / 1000} s`,
      );
    }
    await sleep(POLL_MS);
  }
}

async function readMigrations(source: Connection): Promise<SlotMigration[]> {
  return parseSlotMigrations(await source.call(['CLUSTER', 'GETSLOTMIGRATIONS'], { timeoutMs: STUCK_MS }));
}

function describe({ slots, state, message }: SlotMigration): string {
  return `the migration of slots ${slots.toString()} is at "${state}"${message && ` (${message})`}`;
}
