import { builtInDefaults } from '@valkey-operator/api';
import { describe, expect, it } from 'vitest';
import { SimulatedCluster } from './simulation/simulated-cluster.ts';
import { checkPlan } from './testing/check-plan.ts';
import { bear, condition, settle } from './testing/settle.ts';

const needing = (minReplicasToWrite: number) => ({
  replication: { ...builtInDefaults.replication, minReplicasToWrite },
});
const told = (needed: number, replicas: number) =>
  `spec.replication.minReplicasToWrite is ${needed} and spec.replicasPerMaster ${replicas}, defaults included: no primary could ever accept a write. Lower the one or raise the other.`;

/** Primaries that refuse writes for want of replicas; that one which has just changed its primary is out of sync for a moment is no want. */
function blocked({ primaries, nodes }: SimulatedCluster): string[] {
  return primaries
    .filter(({ node, settings }) => {
      const following = nodes.filter(({ primaryId }) => primaryId === node.id);
      return following.length < Number(settings.settings['min-replicas-to-write']);
    })
    .map(({ name }) => name);
}

/** Until it rests; at no time may a primary refuse writes. */
function settleWriting(cluster: SimulatedCluster) {
  for (let round = 0; round < 150; round += 1) {
    cluster.reconcile(checkPlan(cluster));
    expect(blocked(cluster)).toEqual([]);
    cluster.tick();
    expect(blocked(cluster)).toEqual([]);
  }
  return settle(cluster);
}

describe('more replicas needed for a write than a shard has', () => {
  it('is refused of a cluster that serves, whatever it comes from, and no node hears of it', () => {
    const cluster = bear();
    cluster.change(needing(3));
    const plan = settleWriting(cluster);
    const message = `${told(3, 1)} Every node keeps its old settings.`;
    expect(condition(plan, 'Degraded')).toEqual({ status: 'True', reason: 'ConfigRejected', message });
    cluster.change(needing(1));
    expect(condition(settleWriting(cluster), 'Degraded').status).toBe('False');
    expect(cluster.primaries[0]?.settings.settings['min-replicas-to-write']).toBe('1');
  });

  it('keeps a cluster from being formed until it is corrected', () => {
    const cluster = new SimulatedCluster({ spec: needing(2) });
    expect(condition(settle(cluster), 'Ready')).toEqual({
      status: 'False',
      reason: 'InvalidSpec',
      message: told(2, 1),
    });
    expect(cluster.primaries).toEqual([]);
    cluster.change(needing(1));
    expect(condition(settle(cluster), 'Ready').status).toBe('True');
    expect(blocked(cluster)).toEqual([]);
  });

  it('keeps replicas that are wanted no more', () => {
    const cluster = bear({ replicas: 2, spec: needing(2) });
    cluster.change({ replicasPerMaster: 1 });
    const plan = settleWriting(cluster);
    expect(condition(plan, 'Degraded')).toEqual({ status: 'True', reason: 'InvalidSpec', message: told(2, 1) });
    expect(cluster.pods).toHaveLength(9);
  });
});

describe('replicas and how many of them a write needs', () => {
  it('rise together: a write never needs replicas that are not there yet', () => {
    const cluster = bear({ spec: needing(1) });
    cluster.change({ replicasPerMaster: 2, ...needing(2) });
    expect(condition(settleWriting(cluster), 'Ready').status).toBe('True');
    expect(cluster.primaries.map(({ settings }) => settings.settings['min-replicas-to-write'])).toEqual([
      '2',
      '2',
      '2',
    ]);
  });

  it('fall together: no replica goes that a write still needs', () => {
    const cluster = bear({ replicas: 2, spec: needing(2) });
    cluster.change({ replicasPerMaster: 1, ...needing(1) });
    expect(condition(settleWriting(cluster), 'Ready').status).toBe('True');
    expect(cluster.pods).toHaveLength(6);
  });
});
