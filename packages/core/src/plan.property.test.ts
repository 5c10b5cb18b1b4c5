import { SLOT_COUNT } from '@valkey-operator/valkey';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planCluster } from './plan.ts';
import { checkPlan } from './testing/check-plan.ts';
import { bear, condition, countKeptSlots, settle } from './testing/settle.ts';
import { SimulatedCluster } from './simulation/simulated-cluster.ts';

type Fault = (cluster: SimulatedCluster) => void;

const shape = fc.record({
  shards: fc.integer({ min: 3, max: 4 }),
  replicas: fc.integer({ min: 1, max: 2 }),
  zones: fc.integer({ min: 1, max: 3 }),
  nodesPerZone: fc.integer({ min: 1, max: 3 }),
});

const pick = (cluster: SimulatedCluster, index: number) => cluster.pods[index % cluster.pods.length]?.ordinal;

const podFaults = [
  'lose pod',
  'lose pod and volume',
  'kill',
  'kill and empty',
  'kill and wipe',
  'kill and lose nodes.conf',
] as const;

/** What can befall one pod, written so that a counterexample reads like a history. */
function befall(kind: (typeof podFaults)[number], pod: number) {
  const strike: Fault = (cluster) => {
    const ordinal = pick(cluster, pod);
    if (ordinal === undefined) return;
    if (kind.startsWith('lose')) cluster.losePod(ordinal, { volume: kind.endsWith('volume') });
    else cluster.killProcess(ordinal, { data: /empty|wipe/.test(kind), identity: /wipe|nodes.conf/.test(kind) });
  };
  return { strike, toString: () => `${kind} ${pod}` };
}

const podFault = fc
  .record({ pod: fc.nat(11), kind: fc.constantFrom(...podFaults) })
  .map(({ kind, pod }) => befall(kind, pod));

/** What happens besides: sidecars that are not heard, pods that find no node, time, an operator that is killed. */
const circumstance = fc.oneof(
  fc.record({ kind: fc.constantFrom('cut', 'unschedulable'), value: fc.nat(11) }),
  fc.record({ kind: fc.constant('pass'), value: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constant('killed operator'), value: fc.nat(12) }),
);

function pass(cluster: SimulatedCluster, seconds: number): void {
  for (let second = 0; second < seconds; second += 1) {
    cluster.reconcile(checkPlan(cluster));
    cluster.tick();
  }
}

function undergo(cluster: SimulatedCluster, { kind, value }: { kind: string; value: number }): void {
  const ordinal = pick(cluster, value);
  if (kind === 'cut' && ordinal !== undefined) cluster.pod(ordinal).heard = false;
  if (kind === 'unschedulable' && ordinal !== undefined) cluster.unschedulable.add(ordinal);
  if (kind === 'pass') pass(cluster, value);
  if (kind === 'killed operator') cluster.reconcile(checkPlan(cluster), value);
}

/** Not a measure: the machine may be busy. */
const timeout = 120_000;

describe('plans, whatever happens,', { timeout }, () => {
  it('are the same for the same snapshot', () => {
    fc.assert(
      fc.property(shape, podFault, fc.nat(5), (options, { strike }, seconds) => {
        const cluster = bear(options);
        strike(cluster);
        pass(cluster, seconds);
        const snapshot = cluster.snapshot();
        expect(planCluster(structuredClone(snapshot))).toEqual(planCluster(snapshot));
      }),
      { numRuns: 10 },
    );
  });

  it('bring a cluster to life however often the operator is killed meanwhile', () => {
    fc.assert(
      fc.property(shape, fc.array(fc.nat(20), { maxLength: 12 }), (options, budgets) => {
        const cluster = new SimulatedCluster(options);
        for (const budget of budgets) {
          cluster.reconcile(checkPlan(cluster), budget);
          cluster.tick();
        }
        expect(condition(settle(cluster), 'Ready')).toMatchObject({ status: 'True' });
      }),
      { numRuns: 25 },
    );
  });

  it('lose nothing when one pod after another is struck and healed', () => {
    fc.assert(
      fc.property(shape, fc.array(podFault, { minLength: 1, maxLength: 4 }), (options, faults) => {
        const cluster = bear(options);
        for (const { strike } of faults) {
          strike(cluster);
          expect(condition(settle(cluster), 'Ready')).toMatchObject({ status: 'True' });
          expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
          cluster.write();
        }
      }),
      { numRuns: 25 },
    );
  });

  it('never do harm, and end Ready or held for a named reason, when much happens at once', () => {
    const history = fc.array(fc.oneof(podFault, circumstance), { minLength: 1, maxLength: 12 });
    // A node that lost its nodes.conf has the data of slots whose owner is gone for good.
    const foundBefore = [
      befall('lose pod', 2),
      befall('kill', 4),
      befall('lose pod and volume', 8),
      befall('lose pod and volume', 5),
      befall('kill and lose nodes.conf', 6),
      { kind: 'pass', value: 3 },
      { kind: 'cut', value: 5 },
      befall('lose pod and volume', 2),
      befall('lose pod and volume', 7),
    ];
    fc.assert(
      fc.property(shape, history, (options, events) => {
        const cluster = bear(options);
        for (const event of events) {
          if ('strike' in event) event.strike(cluster);
          else undergo(cluster, event);
        }
        cluster.unschedulable.clear();
        for (const pod of cluster.pods) pod.heard = true;
        const ready = condition(settle(cluster), 'Ready');
        expect(['Healthy', 'SlotsUncovered', 'EmptyPrimaryHeld', 'QuorumLost', 'ReplicaMissing']).toContain(
          ready.reason,
        );
      }),
      { numRuns: 40, examples: [[{ shards: 3, replicas: 1, zones: 3, nodesPerZone: 1 }, foundBefore]] },
    );
  });

  it('scale replicas up and down without losing anything', () => {
    fc.assert(
      fc.property(
        shape,
        fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 4 }),
        (options, counts) => {
          const cluster = bear(options);
          for (const replicasPerMaster of counts) {
            cluster.change({ replicasPerMaster });
            const plan = settle(cluster);
            expect(condition(plan, 'Ready')).toMatchObject({ status: 'True' });
            expect(cluster.pods).toHaveLength(options.shards * (1 + replicasPerMaster));
            expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
            cluster.write();
          }
        },
      ),
      { numRuns: 20 },
    );
  });
});
