import { labels } from '@valkey-operator/api';
import { SLOT_COUNT, SlotSet } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import type { Plan } from './actions.ts';
import { bear, condition, countKeptSlots, settle } from './testing/settle.ts';
import { SimulatedCluster } from './simulation/simulated-cluster.ts';
import type { Line } from './simulation/simulated-node.ts';
import type { RunningPod, SimulatedPod } from './simulation/simulated-pod.ts';

/** A node that nobody of this cluster is. */
const strangerLine: Omit<Line, 'id'> = {
  hostname: '',
  ip: 'elsewhere',
  epoch: 0,
  slots: SlotSet.empty,
  primaryId: undefined,
  connected: true,
  failing: 'no',
};

describe('the birth of a cluster', () => {
  it('leads from nothing to Ready', () => {
    const cluster = new SimulatedCluster();
    const plan = settle(cluster);
    expect(condition(plan, 'Ready')).toEqual({
      status: 'True',
      reason: 'Healthy',
      message: 'All 16384 slots are served by 3 primaries, each with 1 replica in sync.',
    });
    expect(plan.status).toMatchObject({
      phase: 'Running',
      masters: '3/3',
      replicas: '3/3',
      slotsAssigned: 16_384,
      version: '9.1.2',
    });
    expect(plan.status.orchestration).toBeUndefined();
  });

  it('begins when every shard can have a primary, and the others find their place', () => {
    const cluster = new SimulatedCluster();
    for (const ordinal of [0, 2, 4]) cluster.slow.add(ordinal);
    expect(condition(settle(cluster, 20), 'SlotsAssigned').status).toBe('True');
    expect(cluster.primaries.map(({ ordinal }) => ordinal)).toEqual([1, 3, 5]);
    cluster.slow.clear();
    expect(condition(settle(cluster), 'Ready').status).toBe('True');
    expect(cluster.primaries.map(({ ordinal }) => ordinal)).toEqual([1, 3, 5]);
  });

  it('waits for a pod that may own slots already', () => {
    const cluster = new SimulatedCluster();
    cluster.slow.add(0);
    cluster.volume(0).data = SlotSet.all;
    settle(cluster, 20);
    expect(cluster.primaries.filter(({ node }) => !node?.slots.isEmpty)).toEqual([]);
  });
});

describe('healing ends Ready, with all data, when', () => {
  const first = (cluster: SimulatedCluster) => cluster.primaries[0]?.ordinal ?? 0;
  const replicaOf = (cluster: SimulatedCluster, ordinal: number) =>
    cluster.pods.find(({ node }) => node?.primaryId === cluster.pod(ordinal).node?.id)?.ordinal ?? 0;

  const faults: Record<string, (cluster: SimulatedCluster) => void> = {
    'the pod of a primary is lost with its volume': (cluster) => cluster.losePod(first(cluster), { volume: true }),
    'the pod of a primary is replaced and keeps its volume': (cluster) => cluster.losePod(first(cluster)),
    'the pod of a replica is lost with its volume': (cluster) =>
      cluster.losePod(replicaOf(cluster, first(cluster)), { volume: true }),
    'the process of a primary is killed': (cluster) => cluster.killProcess(first(cluster)),
    'a primary restarts at once without its data': (cluster) => cluster.killProcess(first(cluster), { data: true }),
    'the data directory of a primary is wiped': (cluster) =>
      cluster.killProcess(first(cluster), { data: true, identity: true }),
    'the data directory of a replica is wiped': (cluster) =>
      cluster.killProcess(replicaOf(cluster, first(cluster)), { data: true, identity: true }),
    'a primary loses its nodes.conf': (cluster) => cluster.killProcess(first(cluster), { identity: true }),
    'all pods come back with new addresses': (cluster) => {
      for (const { ordinal } of cluster.pods.toReversed()) cluster.losePod(ordinal);
    },
    'two of three primaries restart without their data': (cluster) => {
      for (const { ordinal } of cluster.primaries.slice(0, 2)) cluster.killProcess(ordinal, { data: true });
    },
    'two of three primaries come back as new nodes': (cluster) => {
      for (const { ordinal } of cluster.primaries.slice(0, 2)) cluster.losePod(ordinal, { volume: true });
    },
    'a replica follows the wrong primary': (cluster) => {
      const [, other] = cluster.primaries;
      const stray = cluster.pod(replicaOf(cluster, first(cluster))).node;
      if (stray && other?.node) stray.primaryId = other.node.id;
    },
    'a dead node is left in the tables': (cluster) => {
      for (const { table } of cluster.nodes) {
        table.set('dangling', { ...strangerLine, id: 'dangling', connected: false, failing: 'agreed' });
      }
    },
    'a foreign node is in the tables': (cluster) => {
      cluster.bus.foreign.set('foreign', 'elsewhere');
      for (const { table } of cluster.nodes) {
        table.set('foreign', { ...strangerLine, id: 'foreign' });
      }
    },
  };

  it.each(Object.entries(faults))('%s', (_, strike) => {
    const cluster = bear();
    strike(cluster);
    const plan = settle(cluster);
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'True' });
    expect(condition(plan, 'Degraded')).toMatchObject({ status: 'False' });
    expect(cluster.nodes.every(({ table }) => table.size === 5)).toBe(true);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });
});

describe('a foreign node', () => {
  const meetForeigner = (hostname: string, line: Partial<Line> = {}) => {
    const cluster = bear();
    cluster.bus.foreign.set('foreign', 'elsewhere');
    for (const { table } of cluster.nodes) table.set('foreign', { ...strangerLine, ...line, id: 'foreign', hostname });
    return cluster.reconcile();
  };

  it('is told from one of our own that was replaced a moment ago, also when its cluster has the same name', () => {
    const reasons = (plan: Plan) => plan.events.map(({ reason }) => reason);
    expect(reasons(meetForeigner('demo-0.demo-headless.shop.svc'))).toEqual(['NodeForgotten']);
    expect(reasons(meetForeigner('demo-0.demo-headless.other.svc'))).toEqual(['ForeignNode', 'NodeForgotten']);
    expect(reasons(meetForeigner('', { connected: false }))).toEqual(['ForeignNode', 'NodeForgotten']);
    expect(reasons(meetForeigner('', { connected: false, failing: 'agreed' }))).toEqual(['NodeForgotten']);
  });
});

describe('more replicas', () => {
  it('are attached so that none has to move again, whoever starts first', () => {
    const cluster = bear({ replicas: 0 });
    cluster.change({ replicasPerMaster: 1 });
    cluster.reconcile();
    cluster.tick();
    // demo-3 could follow demo-1 as well as demo-2, but only it can follow demo-2: the others share demo-2's node.
    for (const [ordinal, host] of [0, 2, 2].entries()) {
      const pod = cluster.pod(3 + ordinal);
      Object.assign(pod, { kubernetesNode: `node-${host}-0`, zone: `zone-${host}`, heard: ordinal === 0 });
    }
    const plans = Array.from({ length: 3 }, () => {
      const plan = cluster.reconcile();
      cluster.tick();
      return plan;
    });
    const attached = plans.flatMap(({ events }) => events).filter(({ reason }) => reason === 'ReplicaAttached');
    expect(attached.map(({ message }) => message)).toEqual(['demo-3 becomes a replica of demo-2.']);
  });
});

describe('at leisure', () => {
  it('two shards that sit on one node each exchange their replicas', () => {
    const cluster = bear({ zones: 3 });
    const [first, second] = cluster.primaries;
    const place = (pod: SimulatedPod, zone: string) => Object.assign(pod, { zone, kubernetesNode: `node of ${zone}` });
    const replicaOf = (pod: RunningPod | undefined) =>
      cluster.pods.find(({ node }) => node?.primaryId === pod?.node.id);
    for (const [pod, zone] of [
      [first, 'east'],
      [replicaOf(first), 'east'],
      [second, 'west'],
      [replicaOf(second), 'west'],
    ] as const) {
      if (pod) place(pod, zone);
    }
    const exchanged = [replicaOf(first)?.name, replicaOf(second)?.name];
    expect(condition(settle(cluster), 'Ready')).toMatchObject({ status: 'True' });
    expect([replicaOf(second)?.name, replicaOf(first)?.name]).toEqual(exchanged);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });

  it('labels say the role and the shard of each pod', () => {
    const cluster = bear();
    for (const pod of cluster.pods) expect(pod.labels[labels.role]).toBe(pod.node?.role);
    expect(new Set(cluster.pods.map((pod) => pod.labels[labels.shard])).size).toBe(3);
  });

  it('an object that somebody changed is put back, and an event says what', () => {
    const cluster = bear();
    const key = 'Service/demo';
    const service = cluster.children.get(key);
    if (service) cluster.children.set(key, { ...service, spec: { ...(service['spec'] as object), type: 'NodePort' } });
    const plan = cluster.reconcile();
    expect(plan.events).toEqual([
      { reason: 'DriftRepaired', message: 'Service demo: spec.type is "NodePort", should be "ClusterIP"' },
    ]);
    expect(cluster.children.get(key)).toMatchObject({ spec: { type: 'ClusterIP' } });
  });
});
