import { SLOT_COUNT } from '@valkey-operator/valkey';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SimulatedCluster } from './simulation/simulated-cluster.ts';
import { checkPlan } from './testing/check-plan.ts';
import { bear, condition, countKeptSlots, settle } from './testing/settle.ts';

/** Not a measure: the machine may be busy. */
const timeout = 120_000;

interface Size {
  readonly masterCount: number;
  readonly replicasPerMaster: number;
}

const size = fc.record({
  masterCount: fc.integer({ min: 3, max: 6 }),
  replicasPerMaster: fc.integer({ min: 0, max: 2 }),
});
const version = fc.constantFrom('8.1', '9.1');

/** Of histories that once went wrong, tried for ever. */
const shape = (masterCount: number, replicasPerMaster: number): Size => ({ masterCount, replicasPerMaster });
const losePod = (after: number) => ({ kind: 'lose pod', value: 0, after }) as const;

function bearOf({ masterCount, replicasPerMaster }: Size, tag: string): SimulatedCluster {
  const valkeyImage = { name: 'valkey', tag, pullPolicy: 'IfNotPresent' } as const;
  return bear({ shards: masterCount, replicas: replicasPerMaster, spec: { valkeyImage } });
}

/** One round of operator and cluster, every plan checked. */
function pass(cluster: SimulatedCluster): void {
  cluster.reconcile(checkPlan(cluster));
  cluster.tick();
}

/** Once there is nothing left to do. */
function describeEnd(cluster: SimulatedCluster) {
  const plan = settle(cluster, 400);
  const counts = cluster.primaries.map(({ node }) => node.slots.count);
  return {
    ready: condition(plan, 'Ready').status,
    orchestration: plan.status.orchestration,
    pods: cluster.pods.length,
    primaries: counts.length,
    isEven: Math.max(...counts) - Math.min(...counts) <= 1,
    keptSlots: countKeptSlots(cluster),
    // A replica that was a primary may remember more, and means nothing by it.
    openSlots: cluster.primaries.flatMap(({ node }) => [...node.importing, ...node.migrating]),
    strangers: cluster.nodes.filter(({ table }) => table.size !== cluster.pods.length - 1),
  };
}

/** Settled, with all data, slots shared evenly, exactly the wanted pods, and nothing left half done. */
function endOf({ masterCount, replicasPerMaster }: Size): ReturnType<typeof describeEnd> {
  return {
    ready: 'True',
    orchestration: undefined,
    pods: masterCount * (1 + replicasPerMaster),
    primaries: masterCount,
    isEven: true,
    keptSlots: SLOT_COUNT,
    openSlots: [],
    strangers: [],
  };
}

describe('scaling, from any size to any other,', { timeout }, () => {
  it('ends even with all data, and every slot is served all the time', () => {
    fc.assert(
      fc.property(size, size, version, (from, to, valkey) => {
        const cluster = bearOf(from, valkey);
        cluster.change(to);
        for (let second = 0; second < 60; second += 1) {
          pass(cluster);
          expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
        }
        expect(describeEnd(cluster)).toEqual(endOf(to));
      }),
      { numRuns: 6 },
    );
  });

  it('goes where the newest spec says when that changes in mid-move', () => {
    const changes = fc.array(fc.record({ to: size, after: fc.nat(25) }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(size, changes, size, version, (from, detours, to, valkey) => {
        const cluster = bearOf(from, valkey);
        for (const detour of detours) {
          cluster.change(detour.to);
          for (let second = 0; second < detour.after; second += 1) pass(cluster);
          expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
        }
        cluster.change(to);
        expect(describeEnd(cluster)).toEqual(endOf(to));
      }),
      {
        numRuns: 6,
        examples: [
          [shape(5, 0), [{ to: shape(3, 0), after: 3 }], shape(5, 1), '8.1'],
          [shape(6, 0), [{ to: shape(3, 0), after: 1 }], shape(4, 0), '8.1'],
          [shape(6, 1), [{ to: shape(3, 0), after: 2 }], shape(5, 0), '8.1'],
          [
            shape(5, 2),
            [
              { to: shape(3, 1), after: 8 },
              { to: shape(5, 1), after: 4 },
            ],
            shape(4, 0),
            '9.1',
          ],
          [
            shape(3, 0),
            [
              { to: shape(3, 2), after: 5 },
              { to: shape(4, 1), after: 3 },
              { to: shape(3, 0), after: 0 },
            ],
            shape(4, 0),
            '8.1',
          ],
        ],
      },
    );
  });

  it('survives pods and processes lost at any time, and operators killed between any two actions', () => {
    const fault = fc.record({
      kind: fc.constantFrom('lose pod', 'kill process', 'kill operator'),
      value: fc.nat(20),
      after: fc.nat(15),
    });
    const replicated = size.filter(({ replicasPerMaster }) => replicasPerMaster > 0);
    fc.assert(
      fc.property(
        replicated,
        replicated,
        version,
        fc.array(fault, { minLength: 1, maxLength: 4 }),
        (from, to, valkey, faults) => {
          const cluster = bearOf(from, valkey);
          cluster.change(to);
          for (const { kind, value, after } of faults) {
            for (let second = 0; second < after; second += 1) pass(cluster);
            const pod = cluster.pods[value % cluster.pods.length];
            if (kind === 'kill operator') cluster.reconcile(checkPlan(cluster), value);
            else if (kind === 'lose pod' && pod) cluster.losePod(pod.ordinal);
            else if (pod) cluster.killProcess(pod.ordinal);
            // One fault at a time: the nodes have elected and copied before the next.
            for (let second = 0; second < 40; second += 1) cluster.tick();
          }
          expect(describeEnd(cluster)).toEqual(endOf(to));
        },
      ),
      {
        numRuns: 6,
        examples: [
          [shape(4, 2), shape(6, 1), '8.1', [losePod(6), losePod(0)]],
          [shape(4, 1), shape(3, 1), '8.1', [losePod(1)]],
          [shape(5, 1), shape(4, 1), '8.1', [{ ...losePod(3), value: 1 }, losePod(0)]],
          [shape(6, 2), shape(3, 1), '9.1', [{ ...losePod(5), value: 19 }]],
        ],
      },
    );
  });
});
