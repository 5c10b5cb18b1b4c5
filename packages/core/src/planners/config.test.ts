import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildSettings, settingsInEffect } from '../builders/settings.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import type { ChildObject } from '../snapshot.ts';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition, settle } from '../testing/settle.ts';

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
