import type { ValkeyUpgrade } from '@valkey-operator/api';
import { SLOT_COUNT } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../actions.ts';
import { settingsInEffect } from '../builders/settings.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition, countKeptSlots, settle } from '../testing/settle.ts';

const image = (tag: string) => ({ name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' }) as const;
const old = { spec: { valkeyImage: image('8.1') } };
const count = ({ pods }: SimulatedCluster, tag: string) => pods.filter((pod) => pod.image.endsWith(`:${tag}`)).length;
const uids = ({ pods }: SimulatedCluster) => pods.map(({ uid }) => uid);

/** Seconds pass until something is so; the last plan. */
function until(cluster: SimulatedCluster, isSo: () => boolean): Plan {
  for (let second = 0; second < 100; second += 1) {
    const plan = cluster.reconcile(checkPlan(cluster));
    if (isSo()) return plan;
    cluster.tick();
  }
  throw new Error('never so');
}

describe('an upgrade that is cancelled', () => {
  it('takes back the pods that it had replaced, under its id, and is not begun again until the spec changes', () => {
    const cluster = bear(old);
    cluster.change({ valkeyImage: image('9.1') });
    const { id } = until(cluster, () => count(cluster, '9.1') === 3).status.orchestration!;
    cluster.annotate('cancel', id);
    const back = cluster.reconcile(checkPlan(cluster));
    expect(back.status).toMatchObject({ orchestration: { id, kind: 'Upgrade' }, cancelled: { id, kind: 'Upgrade' } });
    const plan = settle(cluster, 300);
    expect(count(cluster, '8.1')).toBe(6);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'True' });
    expect(condition(plan, 'Progressing')).toMatchObject({ status: 'False', reason: 'Cancelled' });
    expect(plan.detail.orchestrationLog?.at(-1)).toMatchObject({ orchestration: id, outcome: 'Cancelled' });
    cluster.change({});
    settle(cluster, 300);
    expect(count(cluster, '9.1')).toBe(6);
  });

  it('before it has begun touches nothing', () => {
    const cluster = bear(old);
    const before = uids(cluster);
    cluster.annotate('cancel');
    cluster.change({ valkeyImage: image('9.1') });
    expect(condition(settle(cluster, 20), 'Progressing')).toMatchObject({ reason: 'Cancelled' });
    expect(uids(cluster)).toEqual(before);
  });

  it('and was asked for by a ValkeyUpgrade ends it, and another one can begin', () => {
    const cluster = bear(old);
    const ask = (name: string): ValkeyUpgrade => {
      const { metadata, apiVersion } = cluster.cluster;
      const spec = { clusterRef: { name: metadata.name }, targetVersion: '9.1', rollbackOnFailure: true };
      const upgrade = {
        apiVersion,
        kind: 'ValkeyUpgrade',
        metadata: { ...metadata, name, uid: name },
        spec,
      } as ValkeyUpgrade;
      cluster.upgrades.push(upgrade);
      return upgrade;
    };
    const upgrade = ask('first');
    until(cluster, () => count(cluster, '9.1') === 1);
    cluster.annotate('cancel');
    settle(cluster, 300);
    expect(upgrade.status?.phase).toBe('RolledBack');
    expect(count(cluster, '8.1')).toBe(6);
    ask('second');
    until(cluster, () => count(cluster, '9.1') === 6);
  });
});

describe('of two changes of one spec', () => {
  const ask = () => {
    const cluster = bear(old);
    cluster.change({ valkeyImage: image('9.1'), config: { hz: '20' } });
    const { kind } = cluster.reconcile(checkPlan(cluster)).status.orchestration!;
    expect(kind).toBe('Reconfigure');
    cluster.annotate('cancel');
    return cluster;
  };

  it('the one that is not cancelled is made', () => {
    const cluster = ask();
    settle(cluster, 300);
    expect(count(cluster, '9.1')).toBe(6);
    expect(settingsInEffect(cluster.snapshot())?.settings['hz']).toBeUndefined();
  });

  it('both can be cancelled, and are both taken back', () => {
    const cluster = ask();
    const { id } = until(cluster, () => count(cluster, '9.1') === 1).status.orchestration!;
    cluster.annotate('cancel', id);
    const { message = '' } = condition(settle(cluster, 300), 'Progressing');
    expect(message).toMatch(/Upgrade was cancelled.*Reconfigure was cancelled/);
    expect(count(cluster, '8.1')).toBe(6);
    expect(settingsInEffect(cluster.snapshot())?.settings['hz']).toBeUndefined();
  });
});

it('what waits behind a change can be cancelled after it, by "true" once more', () => {
  const cluster = bear(old);
  cluster.change({ valkeyImage: image('9.1') });
  until(cluster, () => count(cluster, '9.1') === 1);
  cluster.change({ config: { hz: '20' } });
  for (const value of ['true', '', 'true']) {
    cluster.annotate('cancel', value);
    cluster.reconcile(checkPlan(cluster));
  }
  settle(cluster, 300);
  expect(count(cluster, '8.1')).toBe(6);
  expect(settingsInEffect(cluster.snapshot())?.settings['hz']).toBeUndefined();
});

it('a restart that is cancelled leaves alone who was not restarted yet, and says that the others stay so', () => {
  const cluster = bear();
  const before = uids(cluster);
  cluster.annotate('restartAt', new Date(cluster.now).toISOString());
  cluster.now += 1000;
  const left = () => uids(cluster).filter((uid) => before.includes(uid)).length;
  until(cluster, () => left() === 4);
  cluster.annotate('cancel');
  const { message } = condition(settle(cluster), 'Progressing');
  expect(message).toContain('A restart cannot be undone');
  expect(left()).toBe(4);
  // Without its annotation there is none that somebody would have to be told of.
  const { cluster: resource } = cluster;
  cluster.cluster = { ...resource, metadata: { ...resource.metadata, annotations: {} } };
  expect(condition(settle(cluster), 'Progressing')).toMatchObject({ reason: 'Healthy' });
  expect(left()).toBe(4);
});

describe('a setting that is cancelled', () => {
  const ran = ({ pods }: SimulatedCluster) => pods.filter(({ settings }) => settings.settings['hz'] === '20').length;

  it.each([1, 2])('in step %i is taken back from every node that has it', (step) => {
    const cluster = bear();
    cluster.change({ config: { hz: '20' } });
    for (let look = 0; look < step; look += 1) cluster.reconcile(checkPlan(cluster));
    expect(ran(cluster)).toBe(step === 1 ? 1 : 6);
    cluster.annotate('cancel');
    expect(cluster.reconcile(checkPlan(cluster)).status.orchestration?.message).toContain('Cancelled, and taken back');
    expect(condition(settle(cluster), 'Progressing')).toMatchObject({ reason: 'Cancelled' });
    expect(ran(cluster)).toBe(0);
    expect(settingsInEffect(cluster.snapshot())?.settings['hz']).toBeUndefined();
  });

  it('when it is kept already and waits for restarts ends these', () => {
    const cluster = bear();
    const before = uids(cluster);
    cluster.change({ config: { databases: '32' } });
    until(cluster, () => uids(cluster).some((uid) => !before.includes(uid)));
    cluster.annotate('cancel');
    settle(cluster, 60);
    expect(uids(cluster).filter((uid) => before.includes(uid))).toHaveLength(5);
  });
});

it('replicas that are on their way out go, though that is cancelled, and it says why', () => {
  const cluster = bear({ replicas: 2 });
  cluster.change({ replicasPerMaster: 1 });
  until(cluster, () => cluster.podCount === 6);
  cluster.annotate('cancel');
  const { status } = cluster.reconcile(checkPlan(cluster));
  expect(status.orchestration?.message).toContain('cannot be called back');
  settle(cluster);
  expect(cluster.pods).toHaveLength(6);
});

describe('a change of size that is cancelled', () => {
  const size = ({ pods, primaries }: SimulatedCluster) => ({ pods: pods.length, shards: primaries.length });

  it('before it has begun, while the cluster was paused, is not begun', () => {
    const cluster = bear();
    cluster.annotate('paused');
    cluster.change({ replicasPerMaster: 2 });
    cluster.reconcile();
    cluster.annotate('cancel');
    cluster.reconcile();
    cluster.annotate('paused', 'false');
    expect(condition(settle(cluster), 'Progressing')).toMatchObject({ reason: 'Cancelled' });
    expect(size(cluster)).toEqual({ pods: 6, shards: 3 });
  });

  it('to more replicas keeps those that are coming already', () => {
    const cluster = bear();
    cluster.change({ replicasPerMaster: 2 });
    until(cluster, () => cluster.podCount === 9);
    cluster.annotate('cancel');
    expect(condition(settle(cluster), 'Ready')).toMatchObject({ status: 'True' });
    expect(size(cluster)).toEqual({ pods: 9, shards: 3 });
  });

  it('to more shards takes their pods away again, as long as they have no slots, under its id', () => {
    const cluster = bear({ spec: { pvc: { storageSize: '1Gi' }, deletionPolicy: 'Delete' } });
    cluster.change({ masterCount: 4 });
    const { id } = until(cluster, () => cluster.pods.length === 8).status.orchestration!;
    cluster.annotate('cancel');
    const back = until(cluster, () => cluster.podCount === 6).status.orchestration;
    expect(back).toMatchObject({ id, kind: 'ScaleOut', message: expect.stringContaining('Cancelled, and taken back') });
    const plan = settle(cluster);
    expect(condition(plan, 'Progressing')).toMatchObject({ reason: 'Cancelled' });
    expect(plan.detail.orchestrationLog?.at(-1)).toMatchObject({ orchestration: id, outcome: 'Cancelled' });
    expect(size(cluster)).toEqual({ pods: 6, shards: 3 });
    expect(cluster.snapshot().claims).toHaveLength(6);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });

  it.each(['9.1', '8.1'])('to more shards on Valkey %s keeps one that has slots, and leaves none open', (tag) => {
    const cluster = bear({ spec: { valkeyImage: image(tag) } });
    cluster.change({ masterCount: 4 });
    until(cluster, () => cluster.primaries.length === 4);
    cluster.annotate('cancel');
    const plan = settle(cluster, 300);
    expect(condition(plan, 'Progressing')).toMatchObject({ reason: 'Cancelled' });
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'True' });
    expect(size(cluster)).toEqual({ pods: 8, shards: 4 });
    expect(cluster.nodes.flatMap((node) => [...node.importing, ...node.migrating])).toEqual([]);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });

  it('to fewer shards gives the slots back', () => {
    const cluster = bear({ shards: 4 });
    cluster.change({ masterCount: 3 });
    const smallest = () => Math.min(...cluster.primaries.map(({ node }) => node.slots.count));
    until(cluster, () => smallest() < 4096);
    cluster.annotate('cancel');
    settle(cluster, 300);
    expect(size(cluster)).toEqual({ pods: 8, shards: 4 });
    expect(smallest()).toBe(4096);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });
});
