import { setTimeout as sleep } from 'node:timers/promises';
import { SLOT_COUNT } from '@valkey-operator/valkey';
import type { TestCluster } from '../../support/test-cluster.ts';

/** What a cluster waits for while it is being born, in this order. */
export const formingPhases = ['starting', 'slots', 'meeting', 'attaching', 'settling'] as const;
type FormingPhase = (typeof formingPhases)[number];
/** When each phase of a birth began and ended, in milliseconds since it was asked for. */
export type Timetable = Record<FormingPhase, { from: number; to: number }>;

const NODES = 6;
const LOOK_MS = 20;

/** By what the nodes themselves say; only the last word is the operator's. */
export async function phaseOf(cluster: TestCluster): Promise<FormingPhase | 'born'> {
  const members = await cluster.members();
  if (members.length < NODES) return 'starting';
  const slots = members.reduce((sum, { self }) => sum + self.slots.count, 0);
  if (slots < SLOT_COUNT) return 'slots';
  if (members.some(({ table }) => table.length < NODES)) return 'meeting';
  if (members.filter(({ self }) => self.role === 'replica').length < NODES / 2) return 'attaching';
  return (await cluster.condition('Ready'))?.status === 'True' ? 'born' : 'settling';
}

/** Watches a birth that was asked for a moment ago. A phase that passes between two looks has no length. */
export async function timeBirth(cluster: TestCluster): Promise<Timetable> {
  const begin = performance.now();
  const ends: Partial<Record<FormingPhase, number>> = {};
  for (let phase = await phaseOf(cluster); phase !== 'born'; phase = await phaseOf(cluster)) {
    ends[phase] = performance.now() - begin;
    await sleep(LOOK_MS);
  }
  let from = 0;
  return Object.fromEntries(
    formingPhases.map((phase) => {
      const span = { from, to: Math.max(from, ends[phase] ?? from) };
      from = span.to;
      return [phase, span];
    }),
  ) as Timetable;
}
