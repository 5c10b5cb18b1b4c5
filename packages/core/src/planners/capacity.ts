import { SLOT_COUNT, type SlotMove } from '@valkey-operator/valkey';
import type { Decision, PlanView } from '../decision.ts';
import { formatMebibytes } from '../status/mebibytes.ts';
import type { Shard } from '../topology.ts';
import { listMoves } from './slot-moves.ts';

/**
 * The data of shards that leave must fit into the memory of those that stay: into all of them together, and into each beside
 * what it has already and keeps. What a node uses besides its data is counted with it, to be on the safe side.
 */
export function refuseOverflow(view: PlanView): Decision | undefined {
  const { shards, leaving, wantedShards } = view.topology;
  if (leaving.length === 0) return undefined;
  const staying = shards.filter((shard) => !leaving.includes(shard));
  const why = refuseShare(shards, staying, wantedShards) ?? refuseFull(view, staying);
  if (why === undefined) return undefined;
  const message =
    `The data does not fit into ${wantedShards} shards: ${formatMebibytes(sumUsed(shards))} are in use, ${why}. No slot is moved. ` +
    'Raise maxmemory and the memory of the pods, delete data, or set spec.masterCount back.';
  return { reason: 'DataDoesNotFit', message, held: true };
}

/** Slots are shared evenly, so each of n gets an nth of everything. */
function refuseShare(shards: readonly Shard[], staying: readonly Shard[], wantedShards: number): string | undefined {
  const share = sumUsed(shards) / wantedShards;
  const limits = staying.map(maxBytes).filter((limit) => limit > 0);
  const least = Math.min(...limits);
  if (limits.length === 0 || share <= least) return undefined;
  return `so each primary would need ${formatMebibytes(share)} and has a maxmemory of ${formatMebibytes(least)}`;
}

/** What is under way has been judged before, and is there in part. */
function refuseFull(view: PlanView, staying: readonly Shard[]): string | undefined {
  const { shards } = view.topology;
  const moves = listMoves(view);
  const overfull = staying
    .map((shard) => {
      const arriving = moves.filter(({ to }) => to === shard.primary.id).map((move) => weigh(move, shards));
      return { shard, arriving: arriving.reduce((sum, bytes) => sum + bytes, 0) };
    })
    .map((each) => ({ ...each, excess: usedBytes(each.shard) + each.arriving - maxBytes(each.shard) }))
    .filter(({ shard, arriving, excess }) => maxBytes(shard) > 0 && arriving > 0 && excess > 0);
  const [worst] = overfull.toSorted((a, b) => b.excess - a.excess);
  if (worst === undefined) return undefined;
  const { shard, arriving } = worst;
  const [kept, needed, limit] = [usedBytes(shard), usedBytes(shard) + arriving, maxBytes(shard)].map(formatMebibytes);
  return `and ${shard.primary.pod.name}, which keeps its ${kept}, would need ${needed} and has a maxmemory of ${limit}`;
}

/**
 * The part of what their owner uses. One that has given most of its slots away uses more than their keys do, its buffers and its
 * backlog, so it counts as if it still had an even share: what was accepted is not refused half way.
 */
function weigh({ from, slots }: SlotMove, shards: readonly Shard[]): number {
  const owner = shards.find(({ primary }) => primary.id === from);
  return owner ? (usedBytes(owner) * slots.count) / Math.max(owner.slots.count, SLOT_COUNT / shards.length) : 0;
}

function sumUsed(shards: readonly Shard[]): number {
  return shards.reduce((sum, shard) => sum + usedBytes(shard), 0);
}

function usedBytes({ primary }: Shard): number {
  return primary.report.memory?.usedBytes ?? 0;
}

function maxBytes({ primary }: Shard): number {
  return primary.report.memory?.maxBytes ?? 0;
}
