import { SlotSet } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import { settingsInEffect } from '../builders/settings.ts';
import { planCluster } from '../plan.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition, settle } from '../testing/settle.ts';

const policy = (value: string) => ({ config: { 'maxmemory-policy': value } });

describe('a setting that was changed by hand', () => {
  /** What is seen when this has been set on the second primary. */
  const seenWith = (cluster: SimulatedCluster, name: string, is: string, should: string): ClusterSnapshot => {
    const snapshot = cluster.snapshot();
    const { name: primary } = cluster.primaries[1]!;
    const pods = snapshot.pods.map((pod) => {
      const { report } = pod;
      const config = { ...report!.config, drift: [{ name, is, should }] };
      return pod.name === primary ? { ...pod, report: { ...report!, config } } : pod;
    });
    return { ...snapshot, pods };
  };
  const putBack = ({ primaries }: SimulatedCluster) => [
    [{ pod: primaries[1]!.name, command: { do: 'setConfig' }, reason: 'DriftRepaired' }],
  ];

  it('is told with what it should be, and put back', () => {
    const cluster = bear();
    const plan = planCluster(seenWith(cluster, 'maxmemory', '1', '402653184'));
    const message = `Valkey in pod ${cluster.primaries[1]!.name}: maxmemory is 1, should be 402653184`;
    expect(plan.events).toContainEqual({ reason: 'DriftRepaired', message });
    expect(condition(plan, 'DriftDetected')).toEqual({
      status: 'True',
      reason: 'DriftRepaired',
      message: `${message}.`,
    });
    expect(plan.stages).toMatchObject(putBack(cluster));
  });

  it('is put back also where it is why a replica waits for its primary, and before other settings are tried', () => {
    const cluster = bear();
    cluster.change(policy('allkeys-lru'));
    const seen = seenWith(cluster, 'cluster-announce-port', '1234', '0');
    const { id } = cluster.primaries[1]!.node;
    const pods = seen.pods.map((pod) => {
      const { report } = pod;
      if (report?.cluster?.primaryId !== id) return pod;
      return { ...pod, ready: false, report: { ...report, replication: { ...report.replication!, linkUp: false } } };
    });
    expect(planCluster({ ...seen, pods }).stages).toMatchObject(putBack(cluster));
  });

  it('is put back instead of introducing the node, where it is the address that it announces', () => {
    const cluster = bear();
    const { ip, node } = cluster.primaries[1]!;
    const seen = seenWith(cluster, 'cluster-announce-ip', '10.9.9.9', ip);
    const pods = seen.pods.map((pod) => {
      const view = pod.report!.cluster!;
      const nodes = view.nodes.map((line) => (line.id === node.id ? { ...line, ip: '10.9.9.9' } : line));
      return { ...pod, report: { ...pod.report!, cluster: { ...view, nodes } } };
    });
    expect(planCluster({ ...seen, pods }).stages).toMatchObject(putBack(cluster));
  });

  it('does not keep others from being corrected when Valkey refuses to go back to what it was', () => {
    const cluster = bear();
    cluster.change(policy('allkeys-lru'));
    const seen = seenWith(cluster, 'oom-score-adj', 'yes', 'no');
    const rejected = { hash: settingsInEffect(seen)!.hash, message: 'no' };
    const pods = seen.pods.map((pod) => {
      const { report } = pod;
      return { ...pod, report: { ...report!, config: { ...report!.config, rejected } } };
    });
    const { status } = planCluster({ ...seen, pods });
    expect(status.orchestration).toMatchObject({ kind: 'Reconfigure', stepName: 'Try on one node' });
  });
});

describe('what was moved by hand', () => {
  it('a replica: told while nothing else was under way', () => {
    const cluster = bear({ replicas: 2 });
    const [first, second] = cluster.primaries;
    const replica = cluster.pods.find(({ node }) => node?.primaryId === first!.node.id)!;
    replica.node!.primaryId = second!.node.id;
    const plan = cluster.reconcile(checkPlan(cluster));
    expect(condition(plan, 'DriftDetected').message).toBe(
      `Replica ${replica.name} follows ${second!.name}, should follow ${first!.name}.`,
    );
  });

  it('a replica: put back as that when it has copied what it was sent to', () => {
    const cluster = bear({ replicas: 2 });
    const [first, second] = cluster.primaries;
    const replica = cluster.pods.find(({ node }) => node?.primaryId === first!.node.id)!;
    replica.node!.primaryId = second!.node.id;
    const seen = cluster.snapshot.bind(cluster);
    cluster.snapshot = () => {
      const snapshot = seen();
      const pods = snapshot.pods.map((pod) => {
        const { report } = pod;
        const replication = { ...report!.replication!, linkUp: false };
        return pod.name === replica.name ? { ...pod, report: { ...report!, replication } } : pod;
      });
      return { ...snapshot, pods };
    };
    for (let round = 0; round < 3; round += 1)
      expect(cluster.reconcile(checkPlan(cluster)).stages.flat()).not.toContainEqual(
        expect.objectContaining({ type: 'CommandNode' }),
      );
    cluster.snapshot = seen;
    const command = { do: 'replicate', primaryId: first!.node.id };
    expect(cluster.reconcile(checkPlan(cluster)).stages).toMatchObject([
      [{ pod: replica.name, command, reason: 'DriftRepaired' }],
    ]);
  });

  it('slots: told by who has them now', () => {
    const cluster = bear();
    const [from, to] = cluster.primaries.map(({ node }) => node);
    const slot = SlotSet.ofSlots([from!.slots.ranges[0]![0]]);
    from!.slots = from!.slots.difference(slot);
    to!.slots = to!.slots.union(slot);
    to!.epoch += 10;
    const plan = planCluster(cluster.snapshot());
    expect(condition(plan, 'DriftDetected').message).toBe(
      `Slots ${slot.toString()} are served by ${cluster.primaries[1]!.name}, should be by ${cluster.primaries[0]!.name}.`,
    );
  });

  it.each([
    ['which leaves shares uneven', 2, 1],
    ['which leaves them as even as before', 2, 0],
    ['back and forth', 0, 1],
  ])('slots, %s: exactly these go back', (_which, from, to) => {
    const cluster = bear();
    const layout = () => cluster.primaries.map(({ node }) => node.slots.toString());
    const before = layout();
    const [source, target] = [from, to].map((index) => cluster.primaries[index]!.node);
    const slot = SlotSet.ofSlots([source!.slots.ranges[0]![0] + 7]);
    source!.slots = source!.slots.difference(slot);
    target!.slots = target!.slots.union(slot);
    target!.epoch += 10;
    const plan = cluster.reconcile(checkPlan(cluster));
    expect(plan.detail.displaced).toEqual([{ shard: expect.any(String), slots: [slot.toString()] }]);
    settle(cluster);
    expect(layout()).toEqual(before);
    expect(cluster.reconcile(checkPlan(cluster)).detail.displaced).toBeUndefined();
  });

  it.each([
    ['', false],
    [', although the record of it is seen late', true],
  ])('slots whose new owner tells of them later than the old one: exactly these go back%s', (_late, isLate) => {
    const cluster = bear();
    const key = `ValkeyClusterStatus/${cluster.names.status}`;
    const record = cluster.children.get(key)!;
    const layout = () => cluster.primaries.map(({ node }) => node.slots.toString());
    const before = layout();
    const [source, target] = cluster.primaries.map(({ node }) => node);
    const slot = SlotSet.ofSlots([source!.slots.ranges[0]![0] + 7]);
    source!.slots = source!.slots.difference(slot);
    const { status, detail } = planCluster(cluster.snapshot());
    expect(detail.displaced).toEqual([{ shard: expect.any(String), slots: [slot.toString()] }]);
    expect(status.orchestration).toBeDefined();
    cluster.cluster = { ...cluster.cluster, status };
    if (!isLate) cluster.children.set(key, { ...record, status: detail });
    target!.slots = target!.slots.union(slot);
    target!.epoch += 10;
    settle(cluster);
    expect(layout()).toEqual(before);
  });

  it('slots that are still on their way: exactly these go back', () => {
    const cluster = bear();
    const [source, target] = cluster.primaries.map(({ node }) => node);
    const slot = SlotSet.ofSlots([source!.slots.ranges[0]![0] + 7]);
    const snapshot = cluster.snapshot();
    const exports = [{ slots: slot.toString(), targetId: target!.id }];
    const pods = snapshot.pods.map((pod) =>
      pod.report?.cluster?.nodeId === source!.id
        ? { ...pod, report: { ...pod.report, cluster: { ...pod.report.cluster, exports } } }
        : pod,
    );
    const { detail, stages } = planCluster({ ...snapshot, pods });
    expect(detail.displaced).toEqual([{ shard: expect.any(String), slots: [slot.toString()] }]);
    expect(stages).toEqual([]);
  });

  it('is told no more a minute after it was put back', () => {
    const cluster = bear({ replicas: 2 });
    const [first, second] = cluster.primaries;
    cluster.pods.find(({ node }) => node?.primaryId === first!.node.id)!.node!.primaryId = second!.node.id;
    cluster.reconcile(checkPlan(cluster));
    expect(condition(settle(cluster), 'DriftDetected')).toMatchObject({ status: 'True' });
    cluster.now += 60_000;
    expect(condition(cluster.reconcile(checkPlan(cluster)), 'DriftDetected')).toEqual({
      status: 'False',
      reason: 'Healthy',
      message: 'Everything managed is as the operator made it.',
    });
  });
});
