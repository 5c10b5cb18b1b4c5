import { durationMs } from '@bufbuild/protobuf/wkt';
import { MoveMethod, RefusalReason, type MoveSlots } from '@valkey-operator/rpc';
import { done, refused } from '@valkey-operator/rpc/sidecar';
import { hasFeature, parseVersion } from '@valkey-operator/valkey';
import type { MoveOrder } from '../slot-move/move.ts';
import { cancelExports } from '../slot-move/slot-exports.ts';
import type { SlotMover } from '../slot-move/slot-mover.ts';
import { handler, InvalidCommandError, lookAtCluster, type Node } from './effect.ts';
import { toSlotSet } from './slots.ts';

export const moveSlots = (node: Node, mover: Pick<SlotMover, 'begin' | 'isRunning'>) =>
  handler<'moveSlots'>(async (payload) => {
    const order = toOrder(payload);
    const { info, cluster } = await node.refresh();
    const version = parseVersion(info.server.version);
    if (order.method === 'atomic' && !(version && hasFeature(version, 'atomicSlotMigration')))
      return refused(RefusalReason.UNSUPPORTED, 'this Valkey has no atomic slot migration');
    if (mover.isRunning) return refused(RefusalReason.INVALID, 'another move of slots is under way');
    // What the node does not own has arrived, or was never its to give.
    const slots = cluster ? order.slots.intersection(cluster.myself.slots) : order.slots;
    if (!cluster || slots.isEmpty) return done({ unchanged: true });
    mover.begin({ ...order, slots }, cluster.myself.id);
  });

/** Others may run meanwhile: what is under way may take a moment to end. */
export const cancelMove = (node: Node, mover: Pick<SlotMover, 'cancel' | 'isRunning'>) =>
  handler<'cancelMove'>(
    async () => {
      const wasRunning = mover.isRunning;
      await mover.cancel();
      const { migrations } = await lookAtCluster(node);
      const isForeign = migrations.some(({ operation, outcome }) => operation === 'export' && outcome === 'running');
      if (isForeign) await cancelExports((...words) => node.call(...words));
      if (!isForeign && !wasRunning) return done({ unchanged: true });
    },
    { concurrent: true },
  );

const METHODS: Partial<Record<MoveMethod, MoveOrder['method']>> = {
  [MoveMethod.ATOMIC]: 'atomic',
  [MoveMethod.BY_KEY]: 'by-key',
};

function toOrder({ slots, target, method, keysAtOnce, timeLimit }: MoveSlots): MoveOrder {
  const way = METHODS[method];
  if (!target || !way || !timeLimit || keysAtOnce === 0)
    throw new InvalidCommandError('moveSlots needs slots, a target, a method, a number of keys and a time limit');
  return { slots: toSlotSet(slots), target, method: way, keysAtOnce, timeLimitMs: durationMs(timeLimit) };
}
