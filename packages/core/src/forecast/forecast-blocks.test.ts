import type { ValkeyUpgrade } from '@valkey-operator/api';
import { describe, expect, it } from 'vitest';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { bear, settle } from '../testing/settle.ts';
import { forecast } from './forecast.ts';
import { planAhead } from './plan-ahead.ts';

const image = (tag: string) => ({ name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' }) as const;
const kept = { pvc: { storageSize: '1Gi' } };

describe('a forecast names what will be refused', () => {
  it('of data that does not fit into the shards that stay, and into as many that may hold more, nothing', () => {
    const tight = () => bear({ shards: 4, usedBytes: 80_000_000, maxBytes: 100_000_000 });
    const cluster = tight();
    cluster.change({ masterCount: 3 });
    expect(forecast(cluster.snapshot())).toMatchObject({ pods: [], slotsMoved: 0 });
    expect(forecast(cluster.snapshot()).blockedBy.join()).toMatch(
      /does not fit into 3 shards.*set spec.masterCount back/,
    );
    cluster.change({ resources: { limits: { memory: '1Gi' } } });
    expect(forecast(cluster.snapshot())).toMatchObject({ blockedBy: [], pods: expect.arrayContaining(['demo-7']) });
  });

  it('of hashes that an older Valkey cannot hold', () => {
    const cluster = bear({ spec: { allowDowngrade: true } });
    cluster.memory.note(4, { usedBytes: 1, maxBytes: 0, expiringHashes: 2 });
    cluster.change({ valkeyImage: image('8.1') });
    const { blockedBy, pods } = forecast(cluster.snapshot());
    expect(pods).toEqual([]);
    expect(blockedBy.join()).toMatch(/time to live of their own.*on demo-4/);
  });

  it('of volumes that their StorageClass does not let grow, also of those that come by the way', () => {
    const cluster = bear({ spec: kept });
    cluster.newVolumes = { storageClass: 'rigid', expandable: false };
    for (const [ordinal, volume] of cluster.volumes)
      cluster.volumes.set(ordinal, { ...volume, traits: cluster.newVolumes });
    cluster.change({ pvc: { storageSize: '2Gi' }, replicasPerMaster: 2 });
    const { blockedBy, steps } = forecast(cluster.snapshot());
    expect(steps.join()).not.toContain('grows');
    expect(blockedBy.join()).toMatch(/volume data-demo-0 of 1Gi cannot grow: its StorageClass rigid/);
  });
});

describe('a ValkeyUpgrade on a paused cluster', () => {
  const askFor = (cluster: SimulatedCluster, targetVersion: string) => {
    cluster.annotate('paused');
    const { metadata, apiVersion } = cluster.cluster;
    const upgrade: ValkeyUpgrade = {
      apiVersion,
      kind: 'ValkeyUpgrade',
      metadata: {
        ...metadata,
        name: `to-${targetVersion}`,
        uid: cluster.nextId('upgrade'),
        generation: 1,
        creationTimestamp: new Date(cluster.now + cluster.upgrades.length).toISOString(),
      },
      spec: {
        clusterRef: { name: metadata.name },
        targetVersion,
        rollbackOnFailure: true,
        podReadyTimeout: '10m',
        replicationSyncTimeout: '1h',
      },
    };
    cluster.upgrades.push(upgrade);
  };

  it('gets a plan, which is what it then does', () => {
    const cluster = bear({ spec: { ...kept, valkeyImage: image('8.1') } });
    askFor(cluster, '9.1');
    const { stages, status } = planAhead(cluster.snapshot());
    expect(stages).toEqual([]);
    expect(status.plan).toMatchObject({ podsTouched: 6, failovers: 3, disruptive: true });
    expect(status.plan?.steps).toContain('demo-4 takes over from demo-0');
    expect(status.plan?.blockedBy).toBeUndefined();
    cluster.annotate('paused', 'false');
    for (let round = 0; round < 5; round += 1) settle(cluster);
    expect(cluster.pods.map((pod) => pod.image.split(':')[1])).toEqual(Array.from({ length: 6 }, () => '9.1'));
  });

  it('tells too what will be refused once the one before it is over', () => {
    const cluster = bear({ spec: { valkeyImage: image('8.1') } });
    askFor(cluster, '9.1');
    askFor(cluster, '8.2');
    const { plan } = planAhead(cluster.snapshot()).status;
    expect(plan).toMatchObject({ podsTouched: 6, blockedBy: [expect.stringContaining('not newer than 9.1')] });
  });

  it('is one of many that are refused: the plan names as many blocks as there is room for', () => {
    const cluster = bear();
    for (let minor = 0; minor < 20; minor += 1) askFor(cluster, `7.${minor}`);
    expect(forecast(cluster.snapshot()).blockedBy.length).toBeGreaterThan(16);
    expect(planAhead(cluster.snapshot()).status.plan?.blockedBy).toHaveLength(16);
  });

  it('that is over is no part of the next plan', () => {
    const cluster = bear({ spec: { valkeyImage: image('8.1') } });
    askFor(cluster, '8.0');
    cluster.annotate('paused', 'false');
    settle(cluster);
    expect(cluster.upgrades[0]?.status?.phase).toBe('Failed');
    cluster.annotate('paused');
    expect(planAhead(cluster.snapshot()).status.plan).toBeUndefined();
    cluster.change({ replicasPerMaster: 2 });
    expect(planAhead(cluster.snapshot()).status.plan).toMatchObject({ podsTouched: 3 });
  });

  it('is foreseen anew when its cluster has far more data', () => {
    const cluster = bear({ shards: 4, usedBytes: 40_000_000, maxBytes: 100_000_000 });
    cluster.annotate('paused');
    cluster.change({ masterCount: 3 });
    const before = planAhead(cluster.snapshot()).status;
    cluster.cluster = { ...cluster.cluster, status: before };
    for (const { ordinal } of cluster.pods)
      cluster.memory.note(ordinal, { usedBytes: 90_000_000, maxBytes: 100_000_000 });
    const { plan } = planAhead(cluster.snapshot()).status;
    expect([before.plan?.blockedBy, plan?.blockedBy?.length]).toEqual([undefined, 1]);
  });
});
