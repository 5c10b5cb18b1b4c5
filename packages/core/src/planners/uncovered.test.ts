import { SLOT_COUNT, SlotSet } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { bear, condition, countKeptSlots, settle } from '../testing/settle.ts';
import { strand } from '../testing/strand.ts';

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
