import { expectText } from '@valkey-operator/valkey';
import type { Connection } from '@valkey-operator/valkey/connection';
import { sumKeys, takeSlots } from './count-keys.ts';
import type { MoveSlots } from './move.ts';
import { nextBound, VERY_LONG_MS } from './range-bound.ts';
import { SlotExports } from './slot-exports.ts';

/** Whoever allows so many keys at once wants them to arrive soon, rather than with the least disturbance. */
const HASTY_KEYS = 10_000;
/** The source takes no writes while a range changes hands. Longer than this is too long: the next ranges are smaller. */
const PAUSE_MS = { gently: 100, hastily: 200 };
/** Valkey serves nobody while it forks, and that would come on top of a pause. */
const SHORT_FORK_MICROSECONDS = 20_000;
/** With so few data in all, no fork takes long, and no range does: it need not be seen first. */
const FEW_BYTES = 512 * 1024 * 1024;

/**
 * Valkey 9 moves a range of slots as a whole. While it copies, clients notice nothing. When it hands over, the source pauses,
 * and then it deletes all that it has given away and serves nobody meanwhile, the longer the more keys there are. So ranges
 * are bounded by their keys, and the bound follows the pauses measured. In haste the next one is in the queue before this
 * one has arrived: Valkey looks for work ten times a second, and that often a range has been there for a while by then.
 */
export const moveAtomically: MoveSlots = async ({ order, source, openTarget, stop, cancelled, onMoved }, keys) => {
  const isHasty = order.keysAtOnce >= HASTY_KEYS;
  const [exports, isSmall] = await Promise.all([SlotExports.open(source, order.target.nodeId), hasFewData(source)]);
  const onCancelled = () => void exports.cancel().catch(() => undefined);
  cancelled.addEventListener('abort', onCancelled, { once: true });
  try {
    let left = order.slots;
    let { keysAtOnce } = order;
    const longestMs = isHasty ? PAUSE_MS.hastily : PAUSE_MS.gently;
    let atOnce = isHasty && isSmall ? 2 : 1;
    while (exports.size > 0 || (!left.isEmpty && !stop.aborted)) {
      if (exports.size < atOnce && !left.isEmpty && !stop.aborted) {
        const range = takeSlots(left, keys, divideEvenly(sumKeys(keys, left), keysAtOnce));
        await exports.begin(range);
        left = left.difference(range);
        continue;
      }
      // In haste all sources are at work at once; otherwise the next one waits for the end of this.
      const waiting = left.isEmpty && isHasty ? 'nothing' : exports.size > 1 ? 'room in the queue' : 'next';
      const { slots, pausedMs } = await exports.whenOneEnds(waiting);
      onMoved(slots, sumKeys(keys, slots));
      keysAtOnce = Math.min(order.keysAtOnce, nextBound(keysAtOnce, pausedMs, longestMs));
      atOnce = isHasty && pausedMs <= VERY_LONG_MS && (await forksQuickly(source)) ? 2 : 1;
    }
  } finally {
    cancelled.removeEventListener('abort', onCancelled);
    // Who cannot be asked takes nothing either, as far as anybody can tell.
    if (exports.size > 0) await exports.settle(openTarget).catch(() => undefined);
  }
};

/** As many ranges as need be, and none that is much smaller than the others: each takes its time, however small it is. */
function divideEvenly(keys: number, atMost: number): number {
  return Math.ceil(keys / Math.max(1, Math.ceil(keys / atMost)));
}

const forksQuickly = (source: Connection) => isAtMost(source, 'stats', 'latest_fork_usec', SHORT_FORK_MICROSECONDS);
const hasFewData = (source: Connection) => isAtMost(source, 'memory', 'used_memory', FEW_BYTES);

/** What is not told is not small. */
async function isAtMost(source: Connection, section: string, field: string, limit: number): Promise<boolean> {
  const info = expectText(await source.call(['INFO', section]));
  const [, value] = new RegExp(`^${field}:(\\d+)`, 'm').exec(info) ?? [];
  return value !== undefined && Number(value) <= limit;
}
