import { SLOT_COUNT } from '@valkey-operator/valkey';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crowdingWithin } from '../placement.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { bear, condition, countKeptSlots, settle } from '../testing/settle.ts';

const crowding = ({ primaries }: SimulatedCluster) => crowdingWithin(primaries.map((pod) => ({ pod })));

/** Primaries where chance has put them. */
function shuffle(cluster: SimulatedCluster, killed: readonly number[]): void {
  for (const ordinal of killed) {
    cluster.killProcess(ordinal % cluster.pods.length, { data: true });
    settle(cluster);
  }
}

describe('primaries that have gathered', () => {
  it('stay where they are, unless the spec asks for more', () => {
    const cluster = bear();
    shuffle(cluster, [cluster.primaries[0]!.ordinal]);
    expect(crowding(cluster)).toBeGreaterThan(0);
    const before = cluster.primaries.map(({ name }) => name);
    settle(cluster);
    expect(cluster.primaries.map(({ name }) => name)).toEqual(before);
  });

  it('are spread as widely as by birth, one handover at a time, and nothing is lost', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { minLength: 1, maxLength: 4 }), (killed) => {
        const cluster = bear();
        const atBirth = crowding(cluster);
        shuffle(cluster, killed);
        cluster.change({ rebalancePrimaries: true });
        const plan = settle(cluster);
        expect(crowding(cluster)).toBe(atBirth);
        expect(condition(plan, 'Ready')).toMatchObject({ status: 'True' });
        expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
      }),
      { numRuns: 20 },
    );
  });
});
