import type { Decision, PlanView } from '../decision.ts';
import type { Shard } from '../topology.ts';

const MEBIBYTE = 1024 * 1024;

/**
 * The data of shards that leave must fit into the memory of those that stay. Slots are shared evenly, so each of n gets an
 * nth of everything; what a node uses besides its data is counted with it, to be on the safe side.
 */
export function refuseOverflow({ topology }: PlanView): Decision | undefined {
  const { shards, leaving, wantedShards } = topology;
  if (leaving.length === 0) return undefined;
  const staying = shards.filter((shard) => !leaving.includes(shard));
  const used = shards.reduce((sum, { primary }) => sum + (primary.report.memory?.usedBytes ?? 0), 0);
  const share = used / wantedShards;
  const limits = staying.map(maxBytes).filter((limit) => limit > 0);
  const least = Math.min(...limits);
  if (limits.length === 0 || share <= least) return undefined;
  const message =
    `The data does not fit into ${wantedShards} shards: ${inMebibytes(used)} MiB are in use, so each primary would need ` +
    `${inMebibytes(share)} MiB and has a maxmemory of ${inMebibytes(least)} MiB. No slot is moved. ` +
    'Raise maxmemory and the memory of the pods, delete data, or set spec.masterCount back.';
  return { reason: 'DataDoesNotFit', message, held: true };
}

function maxBytes({ primary }: Shard): number {
  return primary.report.memory?.maxBytes ?? 0;
}

function inMebibytes(bytes: number): number {
  return Math.round(bytes / MEBIBYTE);
}
