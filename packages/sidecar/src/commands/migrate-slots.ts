import { setTimeout as sleep } from 'node:timers/promises';
import { FailureReason, RefusalReason, type SlotTransfer } from '@valkey-operator/rpc';
import { done, failed, refused } from '@valkey-operator/rpc/sidecar';
import { hasFeature, parseVersion, type SlotMigration } from '@valkey-operator/valkey';
import { handler, InvalidCommandError, lookAtCluster, type Node } from './effect.ts';
import { toSlotSet } from './slots.ts';

const POLL_MS = 100;

/** Others may run meanwhile: a migration takes its time, and one of them may be the order to cancel it. */
export const migrateSlots = (node: Node) =>
  handler<'migrateSlots'>(
    async ({ transfers }, { signal }) => {
      if (!(await isAtomic(node)))
        return refused(RefusalReason.UNSUPPORTED, 'this Valkey has no atomic slot migration');
      const before = await lookAtCluster(node);
      const open = transfers.filter((transfer) => !isThere(transfer, before));
      if (open.length === 0) return done({ unchanged: true });
      const known = new Set(before.migrations.map(({ name }) => name));
      await node.call('CLUSTER', 'MIGRATESLOTS', ...open.flatMap(wordsOf));
      for (;;) {
        const cluster = await lookAtCluster(node);
        const mine = cluster.migrations.filter(({ name, operation }) => operation === 'export' && !known.has(name));
        const broken = mine.find(({ outcome }) => outcome === 'failed' || outcome === 'cancelled');
        if (broken) return failed(FailureReason.VALKEY_ERROR, describe(broken));
        if (open.every((transfer) => isThere(transfer, cluster))) return done();
        signal.throwIfAborted();
        await sleep(POLL_MS, undefined, { signal });
      }
    },
    { concurrent: true },
  );

export const cancelSlotMigrations = (node: Node) =>
  handler<'cancelSlotMigrations'>(
    async () => {
      if (!(await isAtomic(node))) return done({ unchanged: true });
      const { migrations } = await lookAtCluster(node);
      const isRunning = migrations.some(({ operation, outcome }) => operation === 'export' && outcome === 'running');
      if (!isRunning) return done({ unchanged: true });
      await node.call('CLUSTER', 'CANCELSLOTMIGRATIONS');
    },
    { concurrent: true },
  );

async function isAtomic(node: Node): Promise<boolean> {
  const version = parseVersion((await node.refresh()).info.server.version);
  return version !== undefined && hasFeature(version, 'atomicSlotMigration');
}

function isThere({ slots, targetId }: SlotTransfer, cluster: Awaited<ReturnType<typeof lookAtCluster>>): boolean {
  const target = cluster.nodes.find(({ id }) => id === targetId);
  return target !== undefined && toSlotSet(slots ? [slots] : []).difference(target.slots).isEmpty;
}

function wordsOf({ slots, targetId }: SlotTransfer): string[] {
  if (!slots) throw new InvalidCommandError('a transfer needs slots');
  return ['SLOTSRANGE', String(slots.start), String(slots.end), 'NODE', targetId];
}

function describe({ name, state, message }: SlotMigration): string {
  return `${name} ${state}: ${message}`;
}
