import { annotations } from '@valkey-operator/api';
import { SLOT_COUNT, SlotSet } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import type { Plan } from './actions.ts';
import { planCluster } from './plan.ts';
import type { ClusterSnapshot } from './snapshot.ts';
import { bear, condition, countKeptSlots, settle } from './testing/settle.ts';
import { SimulatedCluster } from './simulation/simulated-cluster.ts';

function commandsOf({ stages }: Plan): string[] {
  return stages.flat().flatMap((action) => (action.type === 'CommandNode' ? [action.command.do] : []));
}

/** Pods that do not come back: their node is dead, and nobody has said so. */
function strand(cluster: SimulatedCluster, ordinals: readonly number[]): void {
  for (const ordinal of ordinals) {
    cluster.losePod(ordinal);
    cluster.unschedulable.add(ordinal);
  }
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

describe('a shard of which no copy is left', () => {
  const strike = (cluster: SimulatedCluster) => {
    const [primary] = cluster.primaries;
    const crew = cluster.pods.filter(({ node }) => node === primary?.node || node?.primaryId === primary?.node.id);
    return crew.map(({ ordinal }) => ordinal);
  };

  it('begins anew, empty, when it is proven gone, and an event says so', () => {
    const cluster = bear();
    for (const ordinal of strike(cluster)) cluster.losePod(ordinal, { volume: true });
    const events: string[] = [];
    for (let round = 0; round < 60; round += 1) {
      events.push(...cluster.reconcile().events.map(({ reason }) => reason));
      cluster.tick();
    }
    expect(events).toContain('DataLost');
    expect(condition(settle(cluster), 'Ready')).toMatchObject({ status: 'True' });
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT - 5461);
  });

  it('is not given up while a pod may bring it back', () => {
    const cluster = bear();
    strand(cluster, strike(cluster));
    const plan = settle(cluster, 90);
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'False', reason: 'SlotsUncovered' });
    expect(plan.status.phase).toBe('Failed');
    cluster.unschedulable.clear();
    expect(condition(settle(cluster), 'Ready')).toMatchObject({ status: 'True' });
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });
});

describe('slots that nobody owns any more', () => {
  /** Taken out of all tables, as a person may do it, or a replica that took over before it had heard of them. */
  const strike = (slots: SlotSet) => {
    const cluster = bear();
    const [owner] = cluster.primaries.filter(({ node }) => !node.slots.intersection(slots).isEmpty);
    for (const line of cluster.nodes.flatMap((node) => [node, ...node.table.values()]))
      line.slots = line.slots.difference(slots);
    return { cluster, owner: owner! };
  };
  const slots = SlotSet.parse('5461-5471');

  it('go to whoever has their keys, which all are asked for first', () => {
    const { cluster, owner } = strike(slots);
    owner.node.data = owner.node.data.difference(SlotSet.parse('5461'));
    const { stages } = cluster.reconcile();
    expect(stages.flat().map((action) => action.type === 'CommandNode' && action.command)).toEqual(
      Array.from({ length: 3 }, () => ({ do: 'searchSlots', slots: '5461-5471' })),
    );
    const plan = cluster.reconcile();
    expect(condition(plan, 'Progressing').message).toContain(
      `Those with keys go to ${owner.name}, where the keys are.`,
    );
    settle(cluster);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT - 1);
  });

  it('are taken also from the table of the node that gets them, where it names somebody who does not own them', () => {
    const { cluster, owner } = strike(slots);
    const [other] = cluster.primaries.filter((pod) => pod !== owner);
    owner.node.table.get(other!.node.id)!.slots = other!.node.slots.union(slots);
    cluster.reconcile();
    const [order] = cluster.reconcile().stages.flat();
    expect(order).toMatchObject({
      pod: owner.name,
      guard: { slotOwners: [{ slots: '5461-5471', nodeId: other!.node.id }] },
      command: { do: 'addSlots', slots: '5461-5471' },
    });
  });

  it.each(['as all others say', 'as it says alone'])(
    'go to the replica that took over without having heard of them, while the one that owned them, %s, waits at its start gate',
    (said) => {
      const cluster = bear();
      const [owner] = cluster.primaries;
      const { id, slots: owned } = owner!.node;
      const heir = cluster.pods.find(({ node }) => node?.primaryId === id)!;
      const slots = owned.lowest(2);
      cluster.killProcess(owner!.ordinal, { data: true });
      const line = heir.node!.table.get(id)!;
      line.slots = owned.difference(slots);
      for (let round = 0; round < 60 && heir.node?.role !== 'primary'; round += 1) {
        cluster.reconcile();
        cluster.tick();
      }
      const others = cluster.nodes.flatMap(({ table }) => [...table.values()].filter((each) => each.id === id));
      if (said === 'as it says alone') for (const each of others) each.slots = SlotSet.empty;
      expect(condition(settle(cluster), 'Ready')).toMatchObject({ status: 'True' });
      expect(heir.node?.slots.intersection(slots).count).toBe(2);
      expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
    },
  );

  it('are not said to be lost with a shard that is gone if somebody has their keys', () => {
    const cluster = bear();
    const [lost, heir] = cluster.primaries;
    const kept = lost!.node.slots.lowest(3);
    heir!.node.data = heir!.node.data.union(kept);
    const crew = cluster.pods.filter(({ node }) => node === lost!.node || node?.primaryId === lost!.node.id);
    for (const { ordinal } of crew) cluster.losePod(ordinal, { volume: true });
    const events: string[] = [];
    for (let round = 0; round < 60; round += 1) {
      events.push(...cluster.reconcile().events.map(({ message }) => message));
      cluster.tick();
    }
    expect(events.find((message) => message.includes('begin anew'))).toContain('Slots 3-5460 begin anew');
    expect(heir!.node.slots.intersection(kept).count).toBe(3);
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

describe('a pod that cannot work', () => {
  const planWith = (change: Partial<ClusterSnapshot['pods'][number]>) => {
    const cluster = bear();
    cluster.losePod(5, { volume: true });
    const snapshot = cluster.snapshot();
    const [{ report: _, ...pod }] = snapshot.pods as [ClusterSnapshot['pods'][number]];
    const broken = { ...pod, name: 'demo-5', ordinal: 5, uid: 'new', phase: 'Pending', ...change } as const;
    return planCluster({ ...snapshot, pods: [...snapshot.pods, broken] });
  };

  it.each([
    [
      'ImageUnavailable',
      'spec.valkeyImage',
      { waiting: { container: 'valkey', reason: 'ErrImagePull', message: 'not found' } },
    ],
    [
      'ImageUnavailable',
      'Valkey 8.0',
      { waiting: { container: 'valkey', reason: 'CrashLoopBackOff', message: 'back-off' } },
    ],
    [
      'ImageUnavailable',
      'image has non-numeric user',
      {
        waiting: {
          container: 'valkey',
          reason: 'CreateContainerConfigError',
          message: 'container has runAsNonRoot and image has non-numeric user (valkey)',
        },
      },
    ],
    [
      'ConfigRejected',
      'maxmemory-policy "as-you-like"',
      {
        waiting: {
          container: 'valkey',
          reason: 'CrashLoopBackOff',
          message: 'back-off',
          lastWords: `*** FATAL CONFIG FILE ERROR (Version 9.1.2) ***\nReading the configuration file, at line 7\n>>> 'maxmemory-policy "as-you-like"'\nargument(s) must be one of the following: noeviction\n`,
        },
      },
    ],
    [
      'ConfigRejected',
      'Did you mean maxmemory-policy?',
      {
        waiting: {
          container: 'valkey',
          reason: 'CrashLoopBackOff',
          message: 'back-off',
          lastWords: `*** FATAL CONFIG FILE ERROR (Version 9.1.2) ***\nReading the configuration file, at line 7\n>>> 'maxmemory-polcy "noeviction"'\nBad directive or wrong number of arguments\n`,
        },
      },
    ],
    ['Unschedulable', '0/3 nodes', { unschedulable: '0/3 nodes are available: 3 Insufficient memory' }],
    ['NodeUnreachable', 'demo-5', { phase: 'Running', createdAt: 0 }],
  ] as const)('shows as %s, with %s in the message', (reason, text, change) => {
    const degraded = condition(planWith(change), 'Degraded');
    expect(degraded).toMatchObject({ status: 'True', reason });
    expect(degraded.message).toContain(text);
  });
});

describe('the deletion of a cluster', () => {
  const doom = (deletionPolicy: 'Delete' | 'Retain') => {
    const cluster = bear({ spec: { deletionPolicy } });
    const metadata = { ...cluster.cluster.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    return planCluster({ ...cluster.snapshot(), cluster: { ...cluster.cluster, metadata } }).stages.map((stage) =>
      stage.map(({ type }) => type),
    );
  };

  it('takes the volumes along, after what would make new ones', () => {
    expect(doom('Delete')).toEqual([
      ['DeleteChild'],
      Array.from({ length: 6 }, () => 'DeleteClaim'),
      ['RemoveFinalizer'],
    ]);
  });

  it('leaves them when they are to be retained', () => {
    expect(doom('Retain')).toEqual([['RemoveFinalizer']]);
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
