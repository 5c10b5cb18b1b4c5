import { builtInDefaults } from '@valkey-operator/api';
import { SLOT_COUNT } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import { SimulatedCluster } from './simulation/simulated-cluster.ts';
import { checkPlan, isSettled } from './testing/check-plan.ts';
import { bear, condition, countKeptSlots, settle } from './testing/settle.ts';

/** What a person would compare: which pod is primary of which shard is left to circumstances. */
function describeEnd(cluster: SimulatedCluster): unknown {
  const plan = settle(cluster);
  const replicas = cluster.primaries.map(
    ({ node }) => cluster.nodes.filter(({ primaryId }) => primaryId === node.id).length,
  );
  return {
    ready: condition(plan, 'Ready'),
    phase: plan.status.phase,
    pods: cluster.pods.map(({ name }) => name),
    slots: cluster.primaries.map(({ node }) => node.slots.count).toSorted((a, b) => a - b),
    replicas: replicas.toSorted((a, b) => a - b),
    tables: cluster.nodes.map(({ table }) => table.size),
    children: [...cluster.children.keys()].toSorted(),
  };
}

/** The operator dies once, after so many actions, and starts anew. How many there were in all. */
function runKilled(cluster: SimulatedCluster, killAfter: number): number {
  let done = 0;
  for (let round = 0; round < 300; round += 1) {
    let planned = 0;
    const budget = done <= killAfter ? killAfter - done : Infinity;
    const plan = cluster.reconcile((each) => {
      checkPlan(cluster)(each);
      planned = each.stages.flat().length;
    }, budget);
    if (planned > budget) cluster.term += 1;
    done += planned;
    if (isSettled(plan)) return done;
    cluster.tick();
  }
  throw new Error('never settled');
}

const image = (tag: string) => ({ ...builtInDefaults.valkeyImage, tag });

const operations: Record<string, () => SimulatedCluster> = {
  Create: () => new SimulatedCluster(),
  'ScaleReplicas, up': () => changed({ replicas: 1 }, { replicasPerMaster: 2 }),
  Restart: () => {
    const cluster = bear();
    cluster.annotate('restartAt', new Date(cluster.now).toISOString());
    return cluster;
  },
  Upgrade: () => changed({ spec: { valkeyImage: image('8.1') } }, { valkeyImage: image('9.1') }),
  Reconfigure: () => changed({}, { config: { 'maxmemory-policy': 'allkeys-lru' } }),
  ScaleOut: () => changed({ shards: 3 }, { masterCount: 4 }),
  'ScaleOut, key by key': () => changed({ shards: 3, spec: { valkeyImage: image('8.1') } }, { masterCount: 4 }),
  ScaleIn: () => changed({ shards: 4 }, { masterCount: 3 }),
  'ScaleReplicas, down': () => changed({ replicas: 2 }, { replicasPerMaster: 1 }),
};

function changed(
  options: ConstructorParameters<typeof SimulatedCluster>[0],
  spec: Parameters<SimulatedCluster['change']>[0],
): SimulatedCluster {
  const cluster = bear(options);
  cluster.change(spec);
  return cluster;
}

describe('an operator that is killed between any two actions', { timeout: 120_000 }, () => {
  it.each(Object.entries(operations))('of %s leaves what it would have left', (name, begin) => {
    const clean = begin();
    const actions = runKilled(clean, Infinity);
    const expected = describeEnd(clean);
    expect(actions).toBeGreaterThan(5);
    for (let point = 0; point < actions; point += 1) {
      const cluster = begin();
      runKilled(cluster, point);
      expect(describeEnd(cluster), `killed after action ${point} of ${actions}`).toEqual(expected);
      if (name !== 'Create') expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
    }
  });
});
