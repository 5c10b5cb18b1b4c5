import { SLOT_COUNT } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import { settingsInEffect } from '../builders/settings.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition, countKeptSlots, settle } from '../testing/settle.ts';

const running = (cluster: SimulatedCluster) =>
  cluster.pods.map(({ settings }) => settings.settings['maxmemory-policy']);
const kept = (cluster: SimulatedCluster) =>
  settingsInEffect(cluster.snapshot())?.settings['maxmemory-policy'] ?? 'default';

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
