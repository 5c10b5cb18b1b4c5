import { builtInDefaults } from '@valkey-operator/api';
import { SLOT_COUNT } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import { SimulatedCluster } from './simulation/simulated-cluster.ts';
import { type StatusKind, statusKinds } from './simulation/write-status.ts';
import { isOpen } from './upgrade/upgrades.ts';
import { checkPlan, isSettled } from './testing/check-plan.ts';
import { bear, condition, countKeptSlots, settle } from './testing/settle.ts';

/** What a person would compare: which pod is primary of which shard is left to circumstances. */
function describeEnd(cluster: SimulatedCluster): unknown {
  const plan = settle(cluster);
  const replicas = cluster.primaries.map(
    ({ node }) => cluster.nodes.filter(({ primaryId }) => primaryId === node.id).length,
  );
  return {
    ready: condition(plan, 'Ready'),
    phase: plan.status.phase,
    pods: cluster.pods.map(({ name }) => name),
    slots: cluster.primaries.map(({ node }) => node.slots.count).toSorted((a, b) => a - b),
    replicas: replicas.toSorted((a, b) => a - b),
    tables: cluster.nodes.map(({ table }) => table.size),
    children: [...cluster.children.keys()].toSorted(),
    images: new Set(cluster.pods.map((pod) => pod.image)),
    settings: new Set(cluster.pods.map(({ settings }) => settings.hash)),
    volumes: [...cluster.volumes.values()].map(({ storage }) => storage),
    upgrades: cluster.upgrades.map(({ status }) => [status?.phase, status?.shards?.map(({ step }) => step)]),
  };
}

/** The operator dies once, after so many actions, and starts anew. How many there were in all. */
function runKilled(cluster: SimulatedCluster, killAfter: number): number {
  let done = 0;
  for (let round = 0; round < 300; round += 1) {
    let planned = 0;
    const budget = done <= killAfter ? killAfter - done : Infinity;
    const plan = cluster.reconcile((each) => {
      checkPlan(cluster)(each);
      planned = each.stages.flat().length;
    }, budget);
    if (planned > budget) cluster.term += 1;
    done += planned;
    if (isSettled(plan) && !cluster.upgrades.some(isOpen)) return done;
    cluster.tick();
  }
  throw new Error('never settled');
}

/** As above, but in one of its looks: having done all of that plan or nothing, and told only these parts of it. Looks that do or tell something. */
function runSilenced(cluster: SimulatedCluster, silence?: Silence): number[] {
  const looks: number[] = [];
  let told = '';
  for (let round = 0; round < 300; round += 1) {
    const isHit = round === silence?.look;
    const plan = isHit
      ? cluster.reconcile(checkPlan(cluster), silence.done ? Infinity : 0, silence.told)
      : cluster.reconcile(checkPlan(cluster));
    const { stages, status, detail, upgrades } = plan;
    const telling = JSON.stringify([status, detail, upgrades]);
    if (stages.length > 0 || telling !== told) looks.push(round);
    told = telling;
    if (isHit) cluster.term += 1;
    else if (isSettled(plan) && !cluster.upgrades.some(isOpen)) return looks;
    cluster.tick();
  }
  throw new Error('never settled');
}

interface Silence {
  readonly look: number;
  readonly done: boolean;
  readonly told: readonly StatusKind[];
}

/** What is told is told at the same time as what is done, and each part at the same time as the others. */
const silences: readonly Omit<Silence, 'look'>[] = [
  { done: true, told: [] },
  { done: true, told: ['ValkeyCluster'] },
  { done: true, told: ['ValkeyClusterStatus'] },
  { done: false, told: statusKinds },
  { done: false, told: ['ValkeyCluster'] },
  { done: false, told: ['ValkeyClusterStatus'] },
  { done: true, told: ['ValkeyUpgrade'] },
  { done: false, told: ['ValkeyUpgrade'] },
];

const image = (tag: string) => ({ ...builtInDefaults.valkeyImage, tag });

const operations: Record<string, () => SimulatedCluster> = {
  Create: () => new SimulatedCluster(),
  'ScaleReplicas, up': () => changed({ replicas: 1 }, { replicasPerMaster: 2 }),
  Restart: () => {
    const cluster = bear();
    cluster.annotate('restartAt', new Date(cluster.now).toISOString());
    return cluster;
  },
  Upgrade: () => changed({ spec: { valkeyImage: image('8.1') } }, { valkeyImage: image('9.1') }),
  Reconfigure: () => changed({}, { config: { 'maxmemory-policy': 'allkeys-lru' } }),
  ScaleOut: () => changed({ shards: 3 }, { masterCount: 4 }),
  'ScaleOut, key by key': () => changed({ shards: 3, spec: { valkeyImage: image('8.1') } }, { masterCount: 4 }),
  ScaleIn: () => changed({ shards: 4 }, { masterCount: 3 }),
  'ScaleReplicas, down': () => changed({ replicas: 2 }, { replicasPerMaster: 1 }),
  'shards and replicas at once': () => changed({ shards: 3 }, { masterCount: 4, replicasPerMaster: 2 }),
  'a way back': () =>
    changed({ spec: { valkeyImage: image('9.1'), allowDowngrade: true } }, { valkeyImage: image('8.1') }),
  'settings that only a start reads': () => changed({}, { config: { databases: '20' } }),
  'other resources': () => changed({}, { resources: { requests: { memory: '1Gi' }, limits: { memory: '1Gi' } } }),
  'larger volumes': () => changed({ spec: { pvc: { storageSize: '1Gi' } } }, { pvc: { storageSize: '2Gi' } }),
  ValkeyUpgrade: () => askFor('9.1'),
  'ValkeyUpgrade to what is not there': () => {
    const cluster = askFor('9.9');
    cluster.brokenImages.add('docker.io/valkey/valkey:9.9');
    return cluster;
  },
  'ValkeyUpgrade that fails': () => {
    const cluster = askFor('9.9');
    cluster.imageTrials.blind = true;
    cluster.brokenImages.add('docker.io/valkey/valkey:9.9');
    return cluster;
  },
  'ScaleOut, cancelled': () => {
    const cluster = changed({ shards: 3 }, { masterCount: 4 });
    for (let second = 0; second < 4; second += 1) runOnce(cluster);
    cluster.annotate('cancel');
    return cluster;
  },
  'Upgrade, cancelled': () => {
    const cluster = changed({ spec: { valkeyImage: image('8.1') } }, { valkeyImage: image('9.1') });
    for (let second = 0; second < 12; second += 1) runOnce(cluster);
    cluster.annotate('cancel');
    return cluster;
  },
};

function runOnce(cluster: SimulatedCluster): void {
  cluster.reconcile(checkPlan(cluster));
  cluster.tick();
}

function askFor(targetVersion: string): SimulatedCluster {
  const cluster = bear({ spec: { valkeyImage: image('8.1') } });
  const { metadata, apiVersion } = cluster.cluster;
  cluster.upgrades.push({
    apiVersion,
    kind: 'ValkeyUpgrade',
    metadata: { ...metadata, name: 'up', uid: 'upgrade' },
    spec: {
      clusterRef: { name: metadata.name },
      targetVersion,
      rollbackOnFailure: true,
      podReadyTimeout: '10m',
      replicationSyncTimeout: '1h',
    },
  });
  return cluster;
}

function changed(
  options: ConstructorParameters<typeof SimulatedCluster>[0],
  spec: Parameters<SimulatedCluster['change']>[0],
): SimulatedCluster {
  const cluster = bear(options);
  cluster.change(spec);
  return cluster;
}

describe('an operator that is killed between any two actions', { timeout: 120_000 }, () => {
  it.each(Object.entries(operations))('of %s leaves what it would have left', (name, begin) => {
    const clean = begin();
    const actions = runKilled(clean, Infinity);
    const expected = describeEnd(clean);
    expect(actions).toBeGreaterThan(1);
    for (let point = 0; point < actions; point += 1) {
      const cluster = begin();
      runKilled(cluster, point);
      expect(describeEnd(cluster), `killed after action ${point} of ${actions}`).toEqual(expected);
      if (name !== 'Create') expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
    }
  });
});

describe('an operator that is killed between two writes of what it tells', { timeout: 120_000 }, () => {
  it.each(Object.entries(operations))('of %s leaves what it would have left', (name, begin) => {
    const clean = begin();
    const looks = runSilenced(clean);
    const expected = describeEnd(clean);
    expect(looks.length).toBeGreaterThan(1);
    for (const look of looks) {
      for (const silence of silences.slice(0, clean.upgrades.length > 0 ? undefined : -2)) {
        const cluster = begin();
        runSilenced(cluster, { look, ...silence });
        expect(describeEnd(cluster), `killed at look ${look}: ${JSON.stringify(silence)}`).toEqual(expected);
        if (name !== 'Create') expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
      }
    }
  });
});
