import { SLOT_COUNT } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../actions.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition, countKeptSlots } from '../testing/settle.ts';

const GIBIBYTE = 1024 ** 3;
const memory = (size: string) => ({ resources: { requests: { memory: size }, limits: { memory: size } } });
const uids = ({ pods }: SimulatedCluster) => pods.map(({ uid }) => uid);
const maxmemory = ({ pods }: SimulatedCluster) => [
  ...new Set(pods.map(({ settings }) => settings.settings['maxmemory'])),
];
const before = ['805306368'];

function look(cluster: SimulatedCluster): Plan {
  const plan = cluster.reconcile(checkPlan(cluster));
  cluster.tick();
  return plan;
}

const watch = (cluster: SimulatedCluster, seconds = 60) => Array.from({ length: seconds }, () => look(cluster));

function watchUntil(cluster: SimulatedCluster, isThere: (plan: Plan) => boolean): void {
  for (let second = 0; second < 60; second += 1) if (isThere(look(cluster))) return;
}

/** So many seconds, then all the time that a pod of a new template has to get ready, and so many again. */
function exhaust(cluster: SimulatedCluster): Plan[] {
  const plans = watch(cluster);
  cluster.now += 11 * 60_000;
  return [...plans, ...watch(cluster)];
}

const resized = (plans: readonly Plan[]) =>
  plans.flatMap(({ stages }) => {
    const pods = stages.flat().flatMap((action) => (action.type === 'ResizePod' ? [action.pod] : []));
    return pods.length > 0 ? [pods.length] : [];
  });

describe('more memory for pods while they run', () => {
  it('is given to one replica first, and to the others when its kubelet has done it', () => {
    const cluster = bear({ spec: memory('1Gi') });
    const primaries = cluster.primaries.map(({ name }) => name);
    cluster.change(memory('8Gi'));
    const plans = watch(cluster);
    const [first] = plans.flatMap(({ stages }) => stages.flat()).filter(({ type }) => type === 'ResizePod');
    expect(primaries).not.toContain(first && 'pod' in first && first.pod);
    expect(resized(plans)).toEqual([1, 5]);
    const told = plans.map((plan) => condition(plan, 'Progressing').message);
    expect(told).toContainEqual(
      expect.stringMatching(/^Waiting until demo-\d has its new resources\. maxmemory becomes 6442450944 when/),
    );
    expect(told).toContainEqual(
      expect.stringMatching(/^Waiting until demo-\d, .* have their new resources\. maxmemory/),
    );
    expect(maxmemory(cluster)).toEqual(['6442450944']);
  });

  it('is not counted on before the last kubelet has given it', () => {
    const cluster = bear({ spec: memory('1Gi') });
    cluster.change(memory('8Gi'));
    const hasAll = () => cluster.pods.every((pod) => pod.memory === 8 * GIBIBYTE && pod.resize === undefined);
    const counted = Array.from({ length: 60 }, () => {
      const isEarly = !hasAll();
      look(cluster);
      return isEarly ? maxmemory(cluster) : before;
    });
    expect(counted).toEqual(counted.map(() => before));
    expect(hasAll()).toBe(true);
  });

  it('that no node has costs one replica for a while, and nobody counts on it', () => {
    const cluster = bear({ spec: memory('1Gi') });
    const kept = uids(cluster);
    cluster.nodeMemory = 2 * GIBIBYTE;
    cluster.change(memory('8Gi'));
    const plans = exhaust(cluster);
    expect(resized(plans)).toEqual([1]);
    expect(uids(cluster).filter((uid) => !kept.includes(uid))).toHaveLength(1);
    const told = plans.flatMap(({ events }) => events.map(({ message }) => message));
    expect(told).toContainEqual(
      expect.stringMatching(/replaced: its resources, which it cannot get while it runs \(Node didn't have enough/),
    );
    expect(told).toContainEqual(expect.stringMatching(/failed: 0\/3 nodes.* Insufficient memory\. Every pod that was/));
    expect(maxmemory(cluster)).toEqual(before);
    const last = plans.at(-1)!;
    expect(condition(last, 'Ready')).toMatchObject({ status: 'True' });
    expect(condition(last, 'Degraded')).toMatchObject({ status: 'True', reason: 'RolledBack' });
    expect(last.detail).toMatchObject({ failedRoll: { message: expect.stringContaining('Insufficient memory') } });
    expect(last.detail.effectiveSpec).toMatchObject(memory('1Gi'));
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });

  it('that some nodes do not have is taken back from the others while they run', () => {
    const cluster = bear({ spec: memory('1Gi') });
    const kept = uids(cluster);
    cluster.change(memory('8Gi'));
    watchUntil(cluster, () => cluster.pods.some((pod) => pod.memory === 8 * GIBIBYTE && pod.resize === undefined));
    cluster.nodeMemory = 2 * GIBIBYTE;
    const plans = exhaust(cluster);
    expect(uids(cluster).filter((uid) => !kept.includes(uid))).toHaveLength(1);
    expect(cluster.pods.map((pod) => [pod.memory, pod.resize])).toEqual(kept.map(() => [GIBIBYTE, undefined]));
    expect(maxmemory(cluster)).toEqual(before);
    expect(condition(plans.at(-1)!, 'Degraded')).toMatchObject({ status: 'True', reason: 'RolledBack' });
  });

  it('that a replica was refused is given to it by a new pod, and to the others while they run', () => {
    const cluster = bear({ spec: memory('1Gi') });
    const kept = uids(cluster);
    cluster.refusesResize = true;
    cluster.change(memory('8Gi'));
    watchUntil(cluster, (plan) => resized([plan])[0] === 1);
    cluster.refusesResize = false;
    const told = watch(cluster).flatMap(({ events }) => events.map(({ message }) => message));
    expect(told).toContainEqual(
      expect.stringContaining('its resources, which it cannot get while it runs (requests cannot be removed).'),
    );
    expect(uids(cluster).filter((uid) => !kept.includes(uid))).toHaveLength(1);
    expect(maxmemory(cluster)).toEqual(['6442450944']);
  });
});
