import { builtInDefaults } from '@valkey-operator/api';
import { SLOT_COUNT } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import { planCluster } from '../plan.ts';
import type { PodView } from '../snapshot.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { bear, condition, settle } from '../testing/settle.ts';

const image = (tag: string) => ({ name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' }) as const;
const volume = { pvc: { storageSize: '1Gi' } };
const { database, aof } = builtInDefaults.backup;
const writing = (isSaving: boolean, isAppending: boolean) => ({
  backup: { database: { ...database, enabled: isSaving }, aof: { ...aof, enabled: isAppending } },
});

/** A cluster without replicas whose image is to change, and a person allows that its shards are down meanwhile. */
function upgrade(spec: object): SimulatedCluster {
  const cluster = bear({ replicas: 0, spec: { valkeyImage: image('8.1'), ...spec } });
  cluster.annotate('allowGap');
  cluster.change({ valkeyImage: image('9.1') });
  return cluster;
}

function findReplaced(cluster: SimulatedCluster): readonly string[] {
  return cluster.pods.flatMap((pod) => (pod.image.endsWith('9.1') ? [pod.name] : []));
}

describe('a shard that is alone', () => {
  it.each([
    ['without a volume', writing(true, true), 'without a volume'],
    ['that writes nothing', { ...volume, ...writing(false, false) }, 'write nothing to their volume (spec.backup)'],
  ])('%s is not replaced for a word that a gap is allowed', (_what, spec, why) => {
    const cluster = upgrade(spec);
    const { reason, message } = condition(settle(cluster, 20), 'Degraded');
    expect(findReplaced(cluster)).toEqual([]);
    expect(reason).toBe('DataWouldBeLost');
    expect(message).toContain(why);
    expect(message).toContain('valkey.io/allow-data-loss=true');
    cluster.annotate('allowDataLoss');
    settle(cluster);
    expect(findReplaced(cluster)).toHaveLength(3);
    expect(condition(settle(cluster), 'Ready')).toMatchObject({ status: 'True' });
  });

  it('is not restarted either', () => {
    const cluster = bear({ replicas: 0, spec: { ...volume, ...writing(false, false) } });
    const before = cluster.pods.map(({ uid }) => uid);
    cluster.annotate('allowGap');
    cluster.annotate('restartAt', new Date(cluster.now).toISOString());
    cluster.now += 1000;
    expect(condition(settle(cluster, 20), 'Degraded')).toMatchObject({ reason: 'DataWouldBeLost' });
    expect(cluster.pods.map(({ uid }) => uid)).toEqual(before);
  });

  it.each([
    ['snapshots', writing(true, false)],
    ['an append-only file', writing(false, true)],
  ])('keeps its data by %s', (_what, spec) => {
    const cluster = upgrade({ ...volume, ...spec });
    settle(cluster);
    expect(findReplaced(cluster)).toHaveLength(3);
  });

  it('is away for a while without a word of failure, unless it is lost', () => {
    const cluster = upgrade({ ...volume, ...writing(true, true) });
    cluster.slow.add(1);
    const phases = () =>
      Array.from({ length: 40 }, () => {
        const { phase, slotsAssigned } = cluster.reconcile().status;
        cluster.tick();
        return `${phase} ${slotsAssigned === SLOT_COUNT ? 'whole' : 'with a gap'}`;
      });
    expect(new Set(phases())).toEqual(new Set(['Updating whole', 'Updating with a gap']));
    cluster.slow.clear();
    expect(phases().at(-1)).toBe('Running whole');
    cluster.slow.add(0);
    cluster.losePod(0);
    expect(phases()).toContain('Failed with a gap');
  });

  it('is not replaced before its append-only file is written', () => {
    const cluster = upgrade({ ...volume, ...writing(false, true) });
    cluster.reconcile();
    cluster.tick();
    cluster.reconcile();
    const plan = (rewritesFile: boolean) => {
      const { pods, ...snapshot } = cluster.snapshot();
      const rewrite = (pod: PodView) => (pod.report ? { ...pod, report: { ...pod.report, rewritesFile } } : pod);
      return planCluster({ ...snapshot, pods: pods.map(rewrite) });
    };
    expect(plan(true).stages.flat()).not.toContainEqual(expect.objectContaining({ type: 'DeletePod' }));
    expect(plan(true).status.orchestration?.message).toContain('demo-0 writes its append-only file');
    expect(plan(false).stages.flat()).toContainEqual(expect.objectContaining({ type: 'DeletePod', pod: 'demo-0' }));
  });

  it.each([
    ['more than 1 GiB', 2 ** 30 + 1],
    ['nobody knows how much', undefined],
  ])('that has %s and saves it only when it ends may be killed before that is done', (_what, usedBytes) => {
    const cluster = upgrade({ ...volume, ...writing(true, false) });
    const plan = () => {
      const { pods, ...snapshot } = cluster.snapshot();
      const fill = (pod: PodView): PodView => {
        if (!pod.report || pod.ordinal !== 1) return pod;
        const { memory, ...report } = pod.report;
        return { ...pod, report: usedBytes && memory ? { ...report, memory: { ...memory, usedBytes } } : report };
      };
      return planCluster({ ...snapshot, pods: pods.map(fill) });
    };
    const { reason, message } = condition(plan(), 'Degraded');
    expect(reason).toBe('DataWouldBeLost');
    expect(message).toMatch(/spec.backup.aof.*60 s.*written since its last snapshot may be lost.*allow-data-loss=true/);
    cluster.annotate('allowDataLoss');
    expect(plan().status.orchestration?.kind).toBe('Upgrade');
  });

  it('that has much keeps it by an append-only file', () => {
    const cluster = upgrade({ ...volume, ...writing(true, true) });
    for (const { ordinal } of cluster.pods) cluster.memory.note(ordinal, { usedBytes: 2 ** 40, maxBytes: 0 });
    settle(cluster);
    expect(findReplaced(cluster)).toHaveLength(3);
  });

  it('may be replaced once it has begun to write', () => {
    const cluster = upgrade({ ...volume, ...writing(false, false) });
    settle(cluster, 20);
    cluster.change(writing(false, true));
    settle(cluster);
    expect(findReplaced(cluster)).toHaveLength(3);
  });
});
