import { setTimeout as sleep } from 'node:timers/promises';
import { SLOT_COUNT } from '@valkey-operator/valkey';
import type { TestCluster } from '../../support/test-cluster.ts';

/** What a cluster waits for while it is being born, in this order. */
export const formingPhases = ['starting', 'slots', 'meeting', 'attaching', 'settling'] as const;
type FormingPhase = (typeof formingPhases)[number];
/** How long each phase took, in milliseconds. */
export type PhaseLengths = Record<FormingPhase, number>;

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
export async function timeBirth(cluster: TestCluster): Promise<PhaseLengths> {
  const lengths: PhaseLengths = { starting: 0, slots: 0, meeting: 0, attaching: 0, settling: 0 };
  let last = performance.now();
  for (let phase = await phaseOf(cluster); phase !== 'born'; phase = await phaseOf(cluster)) {
    await sleep(LOOK_MS);
    lengths[phase] += performance.now() - last;
    last = performance.now();
  }
  return lengths;
}

/** Waits until a birth is in this phase, or already beyond it. */
export async function reachPhase(cluster: TestCluster, wanted: FormingPhase): Promise<void> {
  const order: readonly string[] = [...formingPhases, 'born'];
  while (order.indexOf(await phaseOf(cluster)) < order.indexOf(wanted)) await sleep(LOOK_MS);
}
