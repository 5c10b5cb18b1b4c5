import { SLOT_COUNT, SlotSet } from '@valkey-operator/valkey';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildSettings, settingsInEffect } from '../builders/settings.ts';
import { planCluster } from '../plan.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import type { ChildObject, ClusterSnapshot } from '../snapshot.ts';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition, countKeptSlots, settle } from '../testing/settle.ts';

const policy = (value: string) => ({ config: { 'maxmemory-policy': value } });
const running = (cluster: SimulatedCluster) =>
  cluster.pods.map(({ settings }) => settings.settings['maxmemory-policy']);
const kept = (cluster: SimulatedCluster) =>
  settingsInEffect(cluster.snapshot())?.settings['maxmemory-policy'] ?? 'default';

/** A Valkey of its own starts with the settings, and lives. */
function proveStart(cluster: SimulatedCluster): void {
  const { stages } = cluster.reconcile(checkPlan(cluster));
  expect(stages).toMatchObject([[{ type: 'ApplyChild', object: { kind: 'Pod', metadata: { name: 'demo-trial' } } }]]);
  expect(cluster.reconcile(checkPlan(cluster)).stages).toEqual([]);
  cluster.tick();
}

describe('a changed setting', () => {
  it('is tried on one replica, then set on all, and only then kept', () => {
    const cluster = bear();
    cluster.change(policy('allkeys-lru'));
    const steps = ['Try', 'Apply', 'Keep'].map(() => {
      const { status } = cluster.reconcile(checkPlan(cluster));
      const ran = running(cluster).filter((value) => value === 'allkeys-lru').length;
      return { kind: status.orchestration?.kind, step: status.orchestration?.step, ran, kept: kept(cluster) };
    });
    expect(steps).toEqual([
      { kind: 'Reconfigure', step: 1, ran: 1, kept: 'default' },
      { kind: 'Reconfigure', step: 2, ran: 6, kept: 'default' },
      { kind: 'Reconfigure', step: 3, ran: 6, kept: 'allkeys-lru' },
    ]);
    expect(settle(cluster).status.orchestration).toBeUndefined();
    expect(cluster.pods.find(({ rejected }) => rejected)).toBeUndefined();
  });

  it.each([0, 1, 2])('goes on when the operator was away for long after %i looks at it', (looks) => {
    const cluster = bear();
    cluster.change(policy('allkeys-lru'));
    for (let look = 0; look < looks; look += 1) cluster.reconcile(checkPlan(cluster));
    cluster.reconcile(checkPlan(cluster), 0, ['ValkeyCluster', 'ValkeyClusterStatus']);
    cluster.now += 10 * 60_000;
    cluster.operator = { ...cluster.operator, since: cluster.now };
    expect(condition(settle(cluster), 'Progressing')).toMatchObject({ reason: 'Healthy' });
    expect(new Set(running(cluster))).toEqual(new Set(['allkeys-lru']));
    expect(kept(cluster)).toBe('allkeys-lru');
  });

  it('that one node refuses is taken back from all, and told in its words', () => {
    const cluster = bear();
    const stubborn = cluster.primaries[1]!;
    stubborn.refuses.add('as-you-like');
    cluster.change(policy('as-you-like'));
    for (let round = 0; round < 8; round += 1) cluster.reconcile(checkPlan(cluster));
    expect(new Set(running(cluster))).toEqual(new Set([undefined]));
    expect(kept(cluster)).toBe('default');
    const plan = cluster.reconcile(checkPlan(cluster));
    expect(plan.stages).toEqual([]);
    const message = `Valkey in pod ${stubborn.name} refuses spec.config["maxmemory-policy"] = "as-you-like": CONFIG SET failed (possibly related to argument 'maxmemory-policy') - no such value. Every node keeps its old settings.`;
    expect(condition(plan, 'Progressing')).toEqual({ status: 'False', reason: 'ConfigRejected', message });
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'True' });
  });

  it('that takes a restart rolls the pods once it is kept, and only then', () => {
    const cluster = bear();
    const uids = () => cluster.pods.map(({ uid }) => uid);
    const before = uids();
    cluster.change({ config: { databases: '32', 'maxmemory-policy': 'allkeys-lru' } });
    proveStart(cluster);
    for (let round = 0; round < 3; round += 1) cluster.reconcile(checkPlan(cluster));
    expect(uids()).toEqual(before);
    expect(settingsInEffect(cluster.snapshot())?.settings['databases']).toBe('32');
    const plan = cluster.reconcile(checkPlan(cluster));
    expect(plan.status.orchestration?.kind).toBe('Reconfigure');
    expect(condition(settle(cluster, 400), 'Ready')).toMatchObject({ status: 'True' });
    expect(uids().filter((uid) => before.includes(uid))).toEqual([]);
    expect(cluster.pods.map(({ startedWith }) => startedWith['databases'])).toEqual(before.map(() => '32'));
  });

  it('can be tried again after it was withdrawn', () => {
    const cluster = bear();
    const [first] = cluster.pods;
    for (const { refuses } of cluster.pods) refuses.add('as-you-like');
    cluster.change(policy('as-you-like'));
    for (let round = 0; round < 4; round += 1) cluster.reconcile(checkPlan(cluster));
    cluster.change({ config: {} });
    settle(cluster);
    for (const { refuses } of cluster.pods) refuses.clear();
    cluster.change(policy('as-you-like'));
    settle(cluster);
    expect(first?.settings.settings['maxmemory-policy']).toBe('as-you-like');
  });

  it.each<[Record<string, string>, string]>([
    [
      { 'maxmemory-polcy': 'allkeys-lru' },
      'spec.config["maxmemory-polcy"] is no setting of Valkey 9.1.2. Did you mean maxmemory-policy? Every node keeps its old settings.',
    ],
    [
      { databases: 'many' },
      'spec.config["databases"] is "many" and must be a whole number from 1 to 2147483647. Every node keeps its old settings.',
    ],
  ])('%j is refused before any node hears of it', (config, message) => {
    const cluster = bear();
    cluster.change({ config });
    const plan = cluster.reconcile(checkPlan(cluster));
    expect(plan.stages).toEqual([]);
    expect(condition(plan, 'Progressing')).toEqual({ status: 'False', reason: 'ConfigRejected', message });
  });

  it('does not keep other changes waiting when it is refused', () => {
    const cluster = bear();
    cluster.change({ config: { 'no-such-thing': '1' }, replicasPerMaster: 0 });
    for (let round = 0; round < 60; round += 1) {
      cluster.reconcile(checkPlan(cluster));
      cluster.tick();
    }
    expect(cluster.pods).toHaveLength(3);
  });
});

describe('a setting for the next start with which no Valkey starts', () => {
  const refused = (config: Record<string, string>) => {
    const cluster = bear();
    cluster.fatalSettings.add('databases "100"');
    cluster.change({ config });
    return { cluster, plan: settle(cluster) };
  };
  const uids = (cluster: SimulatedCluster) => cluster.pods.map(({ uid }) => uid);

  it('is refused before any node hears of it, in the words of Valkey', () => {
    const { cluster, plan } = refused({ databases: '100', 'maxmemory-policy': 'allkeys-lru' });
    expect(condition(plan, 'Degraded')).toEqual({
      status: 'True',
      reason: 'ConfigRejected',
      message:
        'Valkey does not start with these settings: databases "100" (argument must be between 1 and 64). Every node keeps its old settings.',
    });
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'True' });
    expect(new Set(running(cluster))).toEqual(new Set([undefined]));
    expect(kept(cluster)).toBe('default');
    expect(cluster.reconcile(checkPlan(cluster)).stages).toEqual([]);
  });

  it.each([
    ['set back', {}, undefined],
    ['corrected', { databases: '32' }, '32'],
  ])('leaves nothing behind when it is %s', (_how, config: Record<string, string>, databases) => {
    const { cluster } = refused({ databases: '100' });
    const before = uids(cluster);
    cluster.change({ config });
    expect(condition(settle(cluster, 400), 'Degraded')).toMatchObject({ status: 'False' });
    expect(new Set(cluster.pods.map(({ startedWith }) => startedWith['databases']))).toEqual(new Set([databases]));
    expect(cluster.trials.current).toBeUndefined();
    if (databases === undefined) expect(uids(cluster)).toEqual(before);
  });

  it('is tried by nobody when the change is cancelled meanwhile', () => {
    const cluster = bear();
    cluster.change({ config: { databases: '32' } });
    cluster.reconcile(checkPlan(cluster));
    cluster.annotate('cancel');
    settle(cluster);
    expect(cluster.trials.current).toBeUndefined();
    expect(settingsInEffect(cluster.snapshot())?.settings['databases']).toBeUndefined();
  });

  it('holds up nothing but itself when no pod may be made to prove it', () => {
    const cluster = bear();
    cluster.refusals.judge = ({ kind }) => (kind === 'Pod' ? 'exceeded quota: pods' : undefined);
    cluster.change({ config: { databases: '32' } });
    cluster.reconcile(checkPlan(cluster));
    const plan = cluster.reconcile(checkPlan(cluster));
    expect(plan.stages).toEqual([]);
    expect(condition(plan, 'Progressing')).toMatchObject({
      reason: 'ChildRefused',
      message: expect.stringMatching(/The API server refuses Pod demo-trial: exceeded quota: pods\.$/),
    });
    cluster.refusals.judge = () => undefined;
    cluster.now += 30_000;
    settle(cluster, 400);
    expect(new Set(cluster.pods.map(({ startedWith }) => startedWith['databases']))).toEqual(new Set(['32']));
  });

  it('does not hold up a change of another kind for that, and is put into effect when a pod may be made after all', () => {
    const cluster = bear();
    cluster.refusals.judge = ({ kind }) => (kind === 'Pod' ? 'exceeded quota: pods' : undefined);
    cluster.change({ config: { databases: '32' }, masterCount: 4 });
    for (let round = 0; round < 400; round += 1) {
      cluster.reconcile(checkPlan(cluster));
      cluster.tick();
    }
    expect(cluster.primaries).toHaveLength(4);
    expect(cluster.reconcile(checkPlan(cluster)).status.orchestration).toMatchObject({ kind: 'Reconfigure' });
    cluster.refusals.judge = () => undefined;
    cluster.now += 30_000;
    settle(cluster, 400);
    expect(new Set(cluster.pods.map(({ startedWith }) => startedWith['databases']))).toEqual(new Set(['32']));
  });

  it('is put into effect however late its pod has found a place', () => {
    const cluster = bear();
    cluster.change({ config: { databases: '32' } });
    cluster.reconcile(checkPlan(cluster));
    const trial = { ...cluster.trials.current!, message: 'No node takes it.' };
    for (let minute = 0; minute < 10; minute += 1) {
      cluster.trials.current = trial;
      cluster.reconcile(checkPlan(cluster));
      cluster.now += 60_000;
    }
    cluster.trials.current = { ...trial, message: '', verdict: 'accepted' };
    settle(cluster, 400);
    expect(new Set(cluster.pods.map(({ startedWith }) => startedWith['databases']))).toEqual(new Set(['32']));
  });

  it('stays refused for an operator that has just started and has heard nobody', () => {
    const { cluster } = refused({ databases: '100' });
    for (const pod of cluster.pods) Object.assign(pod, { heard: false, lastReport: undefined });
    cluster.reconcile(checkPlan(cluster));
    expect(cluster.trials.current).toMatchObject({ verdict: 'refused' });
  });

  it('that a node refuses for another value with it leaves no pod behind', () => {
    const cluster = bear();
    for (const { refuses } of cluster.pods) refuses.add('as-you-like');
    cluster.change({ config: { databases: '32', 'maxmemory-policy': 'as-you-like' } });
    expect(condition(settle(cluster), 'Progressing')).toMatchObject({ reason: 'ConfigRejected' });
    for (let round = 0; round < 3; round += 1) cluster.reconcile(checkPlan(cluster));
    expect(cluster.trials.current).toBeUndefined();
  });

  it('is told in words of Kubernetes as long as it cannot be proven', () => {
    const cluster = bear();
    cluster.change({ config: { databases: '32' } });
    cluster.reconcile(checkPlan(cluster));
    cluster.trials.current = { ...cluster.trials.current!, message: 'No node takes it.' };
    const { status } = cluster.reconcile(checkPlan(cluster));
    expect(status.orchestration?.message).toBe(
      'Starts a Valkey without data with databases as wanted, to see whether it takes that. No node takes it.',
    );
  });
});

describe('a setting for the next start that the first pod does not start with', () => {
  const refused = () => {
    const cluster = bear();
    cluster.trials.blind = true;
    cluster.fatalSettings.add('databases "100"');
    cluster.change({ config: { databases: '100' } });
    return { cluster, plan: settle(cluster) };
  };

  it('halts the roll there, and is told in the words of Valkey', () => {
    const { cluster, plan } = refused();
    expect(cluster.pods.filter(({ process }) => process === 'running')).toHaveLength(5);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
    expect(condition(plan, 'Degraded')).toEqual({
      status: 'True',
      reason: 'ConfigRejected',
      message: expect.stringMatching(
        /^Valkey in pod demo-\d refuses a setting: databases "100" \(argument must be between 1 and 64\)\./,
      ),
    });
  });

  it.each([
    ['the spec is set back', {}],
    ['it is corrected', { databases: '32' }],
  ])('is gone when %s: the pod starts, and the others follow', (_how, config) => {
    const { cluster } = refused();
    cluster.change({ config });
    const plan = settle(cluster, 400);
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'True' });
    expect(condition(plan, 'Degraded')).toMatchObject({ status: 'False' });
    expect(new Set(cluster.pods.map(({ startedWith }) => startedWith['databases']))).toEqual(
      new Set([(config as { databases?: string }).databases]),
    );
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });
});

describe('the ConfigMap', () => {
  const key = 'ConfigMap/demo-config';
  const text = (cluster: SimulatedCluster) => JSON.stringify(cluster.children.get(key)?.['data']);
  const refused = () => {
    const cluster = bear();
    for (const { refuses } of cluster.pods) refuses.add('as-you-like');
    cluster.change(policy('as-you-like'));
    for (let round = 0; round < 8; round += 1) cluster.reconcile(checkPlan(cluster));
    return cluster;
  };

  it.each<[string, (cluster: SimulatedCluster) => void]>([
    ['deleted', ({ children }) => children.delete(key)],
    ['emptied', ({ children }) => children.set(key, { ...children.get(key)!, data: {} })],
  ])('that is %s while settings are refused is made anew of those that were accepted', (_, tamper) => {
    const cluster = refused();
    const before = text(cluster);
    tamper(cluster);
    for (let round = 0; round < 4; round += 1) cluster.reconcile(checkPlan(cluster));
    expect(text(cluster)).toBe(before);
    expect(condition(cluster.reconcile(checkPlan(cluster)), 'Progressing')).toMatchObject({ reason: 'ConfigRejected' });
  });

  it('that somebody has emptied is told as that, though the API server keeps the record of it in another order', () => {
    const cluster = refused();
    cluster.children.set(key, { ...cluster.children.get(key)!, data: {} });
    const record = 'ValkeyClusterStatus/demo-status';
    const reorder = (_: string, value: unknown) =>
      value instanceof Object && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).toReversed()) : value;
    cluster.children.set(record, JSON.parse(JSON.stringify(cluster.children.get(record)), reorder) as ChildObject);
    const plan = cluster.reconcile(checkPlan(cluster));
    expect(condition(plan, 'DriftDetected').message).toContain('ConfigMap demo-config: data');
  });

  it('that is lost with the record of it is not made of what may have been refused', () => {
    const cluster = refused();
    const detail = cluster.children.get('ValkeyClusterStatus/demo-status')!;
    const lose = () => {
      cluster.children.delete(key);
      cluster.children.set('ValkeyClusterStatus/demo-status', { ...detail, status: {} });
    };
    lose();
    const plan = cluster.reconcile(checkPlan(cluster));
    expect(cluster.children.has(key)).toBe(false);
    expect(condition(plan, 'Progressing').message).toMatch(/^ConfigMap demo-config does not hold the settings/);
    cluster.change({ config: {} });
    lose();
    settle(cluster);
    expect(settingsInEffect(cluster.snapshot())?.hash).toBe(buildSettings(cluster.spec).hash);
  });
});

describe('settings', () => {
  it('are those of the spec on every node in the end, whatever changes meanwhile, whenever the operator is killed', () => {
    const value = fc.constantFrom('allkeys-lru', 'noeviction', 'volatile-ttl');
    const event = fc.record({ value, rounds: fc.nat(4), budget: fc.nat(6), restart: fc.nat(5) });
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 5 }), (events) => {
        const cluster = bear();
        for (const { value: wanted, rounds, budget, restart } of events) {
          cluster.change(policy(wanted));
          for (let round = 0; round < rounds; round += 1) cluster.reconcile(checkPlan(cluster));
          cluster.reconcile(checkPlan(cluster), budget);
          cluster.killProcess(restart);
          cluster.tick();
        }
        settle(cluster);
        const { hash } = buildSettings(cluster.spec);
        expect(cluster.pods.map(({ settings }) => settings.hash)).toEqual(cluster.pods.map(() => hash));
        expect(settingsInEffect(cluster.snapshot())?.hash).toBe(hash);
      }),
      { numRuns: 15 },
    );
  });
});

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
