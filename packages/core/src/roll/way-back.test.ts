import { SLOT_COUNT } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../actions.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import type { SimulationOptions } from '../simulation/simulation-options.ts';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition, countKeptSlots } from '../testing/settle.ts';

const image = (tag: string) => ({ name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' }) as const;
const count = ({ pods }: SimulatedCluster, tag: string) => pods.filter((pod) => pod.image.endsWith(`:${tag}`)).length;
const uids = ({ pods }: SimulatedCluster) => pods.map(({ uid }) => uid);
const expiring = { usedBytes: 1, maxBytes: 0, expiringHashes: 2 };

/** A cluster on its way from 8.1 to 9.1, one shard of which is of the newer version already. */
function climb(options: SimulationOptions = {}): SimulatedCluster {
  const cluster = bear({ ...options, spec: { ...options.spec, valkeyImage: image('8.1') } });
  cluster.annotate('allowGap');
  cluster.change({ valkeyImage: image('9.1') });
  const isThere = () => count(cluster, '9.1') === (options.replicas === 0 ? 1 : 3);
  for (let second = 0; second < 60 && !isThere(); second += 1) look(cluster);
  expect(isThere()).toBe(true);
  return cluster;
}

function look(cluster: SimulatedCluster): Plan {
  const plan = cluster.reconcile(checkPlan(cluster));
  cluster.tick();
  return plan;
}

const watch = (cluster: SimulatedCluster, seconds = 120) => Array.from({ length: seconds }, () => look(cluster));

const cancel = (cluster: SimulatedCluster) => cluster.annotate('cancel');
const revert = (cluster: SimulatedCluster) => cluster.change({ valkeyImage: image('8.1') });
const fail = (cluster: SimulatedCluster) => {
  cluster.brokenImages.add('docker.io/valkey/valkey:9.1');
};

const reasons = [
  ['the spec says again what it said before', revert],
  ['it is cancelled', cancel],
  ['a later pod fails', fail],
] as const;

describe.each(reasons)('an upgrade that is turned back because %s', (_, turn) => {
  it('takes back the pods that it had replaced without a word about downgrades, and says so', () => {
    const cluster = climb();
    turn(cluster);
    const plans = watch(cluster);
    expect(count(cluster, '8.1')).toBe(6);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
    const refusals = plans.filter((plan) => condition(plan, 'Degraded').reason === 'InvalidSpec');
    expect(refusals).toEqual([]);
    const told = plans.flatMap(({ events }) => events.map(({ message }) => message)).join('\n');
    expect(told).toContain('is replaced, back to what was in effect: docker.io/valkey/valkey:8.1.');
  });

  it('replaces nobody while there is data that the older version cannot hold, and goes on when that has gone', () => {
    const cluster = climb();
    turn(cluster);
    for (const { ordinal } of cluster.primaries) cluster.memory.note(ordinal, expiring);
    const held = condition(watch(cluster).at(-1)!, 'Degraded');
    expect(held).toMatchObject({ reason: 'InvalidSpec', message: expect.stringMatching(/tag "8.1".*HPERSIST/) });
    const before = uids(cluster);
    watch(cluster);
    expect(uids(cluster)).toEqual(before);
    for (const { ordinal } of cluster.pods) cluster.memory.note(ordinal, { ...expiring, expiringHashes: 0 });
    watch(cluster);
    expect(count(cluster, '8.1')).toBe(6);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });

  it('leaves a pod alone whose files the older version cannot read while nobody has a copy', () => {
    const cluster = climb({ replicas: 0, spec: { pvc: { storageSize: '1Gi' } } });
    turn(cluster);
    const { reason, message } = condition(watch(cluster).at(-1)!, 'Degraded');
    expect({ reason, message }).toMatchObject({ reason: 'InvalidSpec', message: expect.stringContaining('to copy') });
    expect(count(cluster, '9.1')).toBe(1);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });
});

describe('a version that nobody has allowed', () => {
  it('is not begun by the way, because a replica happens to be unwell', () => {
    const cluster = bear();
    const [primary] = cluster.primaries;
    cluster.losePod(cluster.pods.find((pod) => pod.node?.primaryId === primary!.node.id)!.ordinal, { volume: true });
    const isAttached = ({ events }: Plan) => events.some(({ reason }) => reason === 'ReplicaAttached');
    expect(Array.from({ length: 60 }).some(() => isAttached(look(cluster)))).toBe(true);
    const before = uids(cluster);
    revert(cluster);
    expect(condition(watch(cluster).at(-1)!, 'Degraded').message).toContain('set spec.allowDowngrade');
    expect(uids(cluster)).toEqual(before);
  });

  it('is another step, also while pods of a third one are there', () => {
    const cluster = climb();
    cluster.change({ valkeyImage: image('8.0') });
    expect(condition(watch(cluster).at(-1)!, 'Degraded').message).toContain('set spec.allowDowngrade');
    expect(count(cluster, '8.0')).toBe(0);
    cluster.change({ allowDowngrade: true });
    watch(cluster);
    expect(count(cluster, '8.0')).toBe(6);
  });

  it('leaves a pod that cannot start to be made of what was in effect', () => {
    const cluster = bear();
    cluster.imageTrials.blind = true;
    cluster.brokenImages.add('docker.io/valkey/valkey:9.9');
    cluster.change({ valkeyImage: image('9.9') });
    expect(Array.from({ length: 60 }).some(() => look(cluster) && count(cluster, '9.9') > 0)).toBe(true);
    revert(cluster);
    expect(condition(watch(cluster).at(-1)!, 'Degraded').message).toContain('set spec.allowDowngrade');
    expect(count(cluster, '9.1')).toBe(6);
  });
});

it('that nobody asks for does not come of a ValkeyClusterStatus that was deleted', () => {
  const cluster = bear();
  const detail = cluster.children.get(`ValkeyClusterStatus/${cluster.names.status}`)!;
  cluster.change({ valkeyImage: image('8.1') });
  cluster.children.set(`ValkeyClusterStatus/${cluster.names.status}`, { ...detail, status: {} });
  expect(condition(watch(cluster).at(-1)!, 'Degraded').message).toContain('set spec.allowDowngrade');
  expect(count(cluster, '9.1')).toBe(6);
});
