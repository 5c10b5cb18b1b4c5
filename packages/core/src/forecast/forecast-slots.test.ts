import { SLOT_COUNT, SlotSet } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../actions.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { checkPlan, isSettled } from '../testing/check-plan.ts';
import { bear, countKeptSlots } from '../testing/settle.ts';
import { describeEffect } from './effects.ts';
import { forecast } from './forecast.ts';

/** Of each shard, by the pod of its primary: keys in each of its slots. */
const CROWDS: readonly (readonly number[])[] = [
  [300, 0, 1],
  [0, 7, 0],
  [1, 1, 1, 900],
  [50, 0, 0, 0],
];

/** A cluster whose shards have as many keys as this; none in a shard of 0. */
function bearCrowded(crowds: readonly number[], tag: string): SimulatedCluster {
  const valkeyImage = { name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' } as const;
  const cluster = bear({ shards: crowds.length, spec: { valkeyImage } });
  for (const [index, { node }] of cluster.primaries.entries()) {
    const keysPerSlot = crowds[index] ?? 0;
    cluster.memory.crowd(node.slots, keysPerSlot);
    if (keysPerSlot === 0) node.data = SlotSet.empty;
  }
  cluster.tick();
  return cluster;
}

/** What really became of it, looked at from outside. */
interface Outcome {
  readonly slotsMoved: number;
  readonly keysMoved: number;
  readonly failovers: number;
  readonly steps: readonly string[];
}

function undergo(cluster: SimulatedCluster): Outcome {
  const steps = new Set<string>();
  let moved = SlotSet.empty;
  let failovers = 0;
  const note = (plan: Plan) => {
    checkPlan(cluster)(plan);
    for (const action of plan.stages.flat()) {
      const effect = describeEffect(cluster, action);
      if (effect) steps.add(effect.text);
    }
  };
  const watch = <T>(act: () => T): T => {
    const before = cluster.nodes.map(({ id, role, primaryId, slots }) => ({ id, role, primaryId, slots }));
    const outcome = act();
    for (const { id, role, slots } of cluster.nodes) {
      const former = before.find((each) => each.id === id);
      const isHeir = former?.role === 'replica' && role === 'primary' && !slots.isEmpty;
      const own = before.find((each) => each.id === (isHeir ? former.primaryId : id))?.slots ?? SlotSet.empty;
      if (isHeir) failovers += 1;
      moved = moved.union(slots.difference(own));
    }
    return outcome;
  };
  for (let round = 0; round < 300 && !isSettled(watch(() => cluster.reconcile(note))); round += 1)
    watch(() => cluster.tick());
  const keysMoved = cluster.memory.countKeys(moved.intersection(keptBy(cluster)));
  return { slotsMoved: moved.count, keysMoved, failovers, steps: [...steps] };
}

function keptBy({ primaries }: SimulatedCluster): SlotSet {
  return primaries.reduce((all, { node }) => all.union(node.data.intersection(node.slots)), SlotSet.empty);
}

describe.each(['9.1', '8.1'])('a forecast of another number of shards of Valkey %s', (tag) => {
  it.each(CROWDS.map((crowds) => [crowds.length, crowds.length === 3 ? 4 : 3, crowds.join(), crowds] as const))(
    'from %d to %d, with keys like %s, is what then happens',
    (_from, masterCount, _keys, crowds) => {
      const cluster = bearCrowded(crowds, tag);
      const stock = keptBy(cluster).count;
      cluster.change({ masterCount });
      const { steps, pods, slotsMoved, keysMoved, failovers, blockedBy } = forecast(cluster.snapshot());
      const before = cluster.pods.map(({ name }) => name);
      const { steps: taken, ...outcome } = undergo(cluster);
      expect({ slotsMoved, keysMoved, failovers }).toEqual(outcome);
      expect(slotsMoved).toBe(Math.floor(SLOT_COUNT / 4));
      expect(steps.map((step) => step.replace(/: \d+ slots$/, ''))).toEqual(taken);
      const after = cluster.pods.map(({ name }) => name);
      expect(pods).toEqual(
        [...new Set([...before, ...after])].filter((name) => before.includes(name) !== after.includes(name)),
      );
      expect(blockedBy).toEqual([]);
      expect(countKeptSlots(cluster)).toBe(stock);
    },
  );
});
