import { annotations } from '@valkey-operator/api';
import { SLOT_COUNT, SlotSet } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import type { Plan } from './actions.ts';
import { planCluster } from './plan.ts';
import type { ClusterSnapshot } from './snapshot.ts';
import { bear, condition, countKeptSlots, settle } from './testing/settle.ts';
import { strand } from './testing/strand.ts';
import { SimulatedCluster } from './simulation/simulated-cluster.ts';

function commandsOf({ stages }: Plan): string[] {
  return stages.flat().flatMap((action) => (action.type === 'CommandNode' ? [action.command.do] : []));
}

describe('when two of three primaries are gone', () => {
  const strike = () => {
    const cluster = bear();
    strand(
      cluster,
      cluster.primaries.slice(0, 2).map(({ ordinal }) => ordinal),
    );
    return cluster;
  };

  it('nothing is promoted, and the condition says what to do', () => {
    const cluster = strike();
    const plan = settle(cluster, 60);
    expect(commandsOf(plan)).toEqual([]);
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'False', reason: 'QuorumLost' });
    expect(condition(plan, 'Degraded').message).toContain(annotations.forceTakeover);
    expect(plan.status.phase).toBe('Failed');
  });

  it('replicas take over, one after the other, once a person says so', () => {
    const cluster = strike();
    settle(cluster, 30);
    cluster.annotate('forceTakeover');
    const plan = settle(cluster, 60);
    expect(plan.status.slotsAssigned).toBe(SLOT_COUNT);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'False', reason: 'ReplicaMissing' });
  });

  it('the cluster goes on by itself when their pods return', () => {
    const cluster = strike();
    settle(cluster, 30);
    cluster.unschedulable.clear();
    expect(condition(settle(cluster), 'Ready')).toMatchObject({ status: 'True' });
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });
});

describe('a paused cluster', () => {
  it('is Ready as it is, however many replicas more are wanted, and says that they wait', () => {
    const cluster = bear();
    cluster.annotate('paused');
    cluster.change({ replicasPerMaster: 2 });
    const plan = settle(cluster, 10);
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'True' });
    expect(plan.status.replicas).toBe('3/3');
    expect(condition(plan, 'Paused').message).toContain('asks for 9 pods, and there are 6');
  });
});

describe('a sidecar that is not heard', () => {
  it('leads to no action at all while its Valkey serves', () => {
    const cluster = bear();
    const [primary] = cluster.primaries;
    if (primary) primary.heard = false;
    const before = primary?.node.id;
    for (let second = 0; second < 200; second += 1) {
      expect(cluster.reconcile().stages).toEqual([]);
      cluster.tick();
    }
    expect(cluster.primaries.map(({ node }) => node.id)).toContain(before);
    const plan = cluster.reconcile();
    expect(condition(plan, 'Degraded')).toMatchObject({ status: 'True', reason: 'NodeUnreachable' });
    expect(plan.status.slotsAssigned).toBe(SLOT_COUNT);
  });

  it('is told soon when the kubelet does not hear it either', () => {
    const snapshot = bear().snapshot();
    const silence = (ageMs: number, ready: boolean): ClusterSnapshot => ({
      ...snapshot,
      pods: snapshot.pods.map((pod) => {
        const isMute = pod.ordinal === 0 && pod.report;
        return isMute ? { ...pod, ready, report: { ...isMute, live: false, receivedAt: snapshot.now - ageMs } } : pod;
      }),
    });
    expect(condition(planCluster(silence(11_000, false)), 'Degraded').reason).toBe('NodeUnreachable');
    expect(planCluster(silence(9_000, false))).toMatchObject({ stayConnected: false, wakeAfterMs: 10_000 });
    expect(condition(planCluster(silence(60_000, true)), 'Degraded').status).toBe('False');
  });
});

describe('a primary that came back without its data', () => {
  it('is held while a replica that has not been heard may have it', () => {
    const cluster = bear();
    const [primary] = cluster.primaries;
    const replica = cluster.pods.find(({ node }) => node?.primaryId === primary?.node.id);
    strand(cluster, [replica?.ordinal ?? 0]);
    settle(cluster, 3);
    cluster.killProcess(primary?.ordinal ?? 0, { data: true });
    const plan = settle(cluster, 60);
    expect(commandsOf(plan)).toEqual([]);
    expect(condition(plan, 'Ready')).toMatchObject({ reason: 'EmptyPrimaryHeld' });
    expect(condition(plan, 'Ready').message).toContain(replica?.name);
    cluster.unschedulable.clear();
    expect(condition(settle(cluster, 60), 'Ready').message).toContain('was not in sync since it started');
    cluster.annotate('forceTakeover');
    expect(condition(settle(cluster), 'Ready')).toMatchObject({ status: 'True' });
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });
});

describe('a primary that came back with its data, and lost its replica meanwhile', () => {
  it.each(['that is on its way there', 'that somebody has left there'])(
    'keeps its slots, although another has keys of one %s',
    (what) => {
      const cluster = bear();
      const [primary, other] = cluster.primaries;
      const { id, slots } = primary!.node;
      const [slot = 0] = slots;
      const replica = cluster.pods.find(({ node }) => node?.primaryId === id);
      other!.node.data = other!.node.data.union(SlotSet.ofSlots([slot]));
      if (what === 'that is on its way there') other!.node.importing.set(slot, id);
      cluster.killProcess(primary!.ordinal);
      cluster.losePod(replica!.ordinal, { volume: true });
      expect(condition(settle(cluster), 'Ready')).toMatchObject({ status: 'True' });
      expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
      expect(slots.difference(primary!.node.data).difference(SlotSet.ofSlots([slot])).isEmpty).toBe(true);
    },
  );
});

describe('a primary that has keys but lost its slots', () => {
  it('is left to Valkey at first, and shown to a person when that does not help', () => {
    const cluster = bear({ replicas: 0 });
    cluster.change({ replicasPerMaster: 1 });
    settle(cluster);
    const replica = cluster.pods.find(({ node }) => node?.role === 'replica');
    Object.assign(replica?.node ?? {}, { role: 'primary', primaryId: undefined, slots: SlotSet.empty });
    const first = cluster.reconcile();
    expect(condition(first, 'Degraded').message).not.toContain('FLUSHALL');
    expect(first.events).toEqual([]);
    cluster.now += 61_000;
    const later = cluster.reconcile();
    expect(condition(later, 'Degraded').message).toContain('run FLUSHALL on it');
    expect(later.events).toMatchObject([{ reason: 'ReplicaMissing' }]);
  });
});

describe('what people wrote', () => {
  it('waits for the leftovers of a deleted cluster of the same name', () => {
    const cluster = new SimulatedCluster();
    const owner = { kind: 'ValkeyCluster', name: 'demo', uid: 'its predecessor', controller: true };
    const metadata = { name: 'demo', uid: 'theirs', ownerReferences: [owner] };
    cluster.children.set('StatefulSet/demo', { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata });
    const plan = cluster.reconcile();
    expect([plan.stages, plan.events]).toEqual([[], []]);
    expect(condition(plan, 'Ready')).toMatchObject({
      message: expect.stringContaining('belongs to a deleted cluster of this name'),
    });
  });

  it('is refused when an object of a needed name is not ours, and nothing is created beside it', () => {
    const cluster = new SimulatedCluster();
    cluster.children.set('StatefulSet/demo', {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'demo', uid: 'theirs' },
    });
    const plan = cluster.reconcile();
    expect(plan.stages).toEqual([]);
    expect(condition(plan, 'Ready')).toMatchObject({
      reason: 'NameTaken',
      message: expect.stringContaining('StatefulSet demo exists and does not belong to this cluster') as string,
    });
  });

  it('waits while the cluster is paused', () => {
    const cluster = bear();
    cluster.annotate('paused');
    cluster.losePod(0, { volume: true });
    const plan = settle(cluster, 30);
    expect(plan.stages).toEqual([]);
    expect(condition(plan, 'Paused')).toMatchObject({ status: 'True' });
    expect(condition(plan, 'Progressing')).toMatchObject({ status: 'False', reason: 'Paused' });
  });

  it('is refused when the data would not fit into the shards that stay, and nothing is touched', () => {
    const cluster = bear({ shards: 4, usedBytes: 80_000_000, maxBytes: 100_000_000 });
    cluster.change({ masterCount: 3 });
    const plan = settle(cluster, 30);
    expect(plan.stages).toEqual([]);
    expect(cluster.primaries).toHaveLength(4);
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'True' });
    expect(condition(plan, 'Progressing')).toEqual({
      status: 'False',
      reason: 'DataDoesNotFit',
      message: expect.stringContaining('each primary would need 102 MiB and has a maxmemory of 95 MiB') as string,
    });
    cluster.change({ masterCount: 4 });
    expect(settle(cluster).status.orchestration).toBeUndefined();
  });
});

describe('at rest', () => {
  it('time alone changes nothing in the status', () => {
    const cluster = bear();
    const rested = settle(cluster);
    for (let second = 0; second < 300; second += 1) cluster.tick();
    const later = cluster.reconcile();
    expect(later.status).toEqual(rested.status);
    expect(later.detail).toEqual(rested.detail);
    expect(later.stages).toEqual([]);
  });
});
