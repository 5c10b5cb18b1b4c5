import { type SlotMove, SlotSet } from '@valkey-operator/valkey';
import { listNames } from '../status/list-names.ts';
import type { Topology } from '../topology.ts';
import type { RunningMove } from './slot-moves.ts';

/** How far the slots are, and when they will be there: by the keys that the moves under way have really moved. */
export function describeMoves(topology: Topology, moves: readonly SlotMove[], running: readonly RunningMove[]): string {
  const all = [...running, ...moves];
  const slots = all.reduce((sum, move) => sum + move.slots.count, 0);
  const keys = all.reduce((sum, move) => sum + estimateKeys(topology, move), 0);
  const name = (id: string) => topology.members.find((member) => member.id === id)?.pod.name ?? id.slice(0, 8);
  const names = (ids: readonly string[]) => listNames([...new Set(ids)].map(name));
  const estimate = estimateSeconds(running, keys);
  return `${slots} slots with some ${keys} keys are left to move from ${names(all.map(({ from }) => from))} to ${names(all.map(({ to }) => to))}${estimate === undefined ? '' : `, which takes about ${estimate} s`}.`;
}

/** As many as the slots' share of what the source has. */
export function estimateKeys({ shards }: Topology, { from, slots }: SlotMove): number {
  const source = shards.find(({ primary }) => primary.id === from);
  const keys = source?.primary.report.memory?.keys ?? 0;
  return Math.round((keys * slots.count) / Math.max(1, (source?.slots ?? SlotSet.all).count));
}

/** Too little has moved to tell: nothing is better than a guess. */
const TELLING_MS = 500;

function estimateSeconds(running: readonly RunningMove[], keysLeft: number): number | undefined {
  const measured = running.map(({ source }) => source.report.move).filter((move) => move?.state === 'running');
  const rate = measured.reduce((sum, move) => sum + (move?.movedKeys ?? 0) / Math.max(1, move?.elapsedMs ?? 1), 0);
  const isTelling = measured.some((move) => (move?.elapsedMs ?? 0) >= TELLING_MS);
  return isTelling && rate > 0 ? Math.max(1, Math.round(keysLeft / rate / 1000)) : undefined;
}
