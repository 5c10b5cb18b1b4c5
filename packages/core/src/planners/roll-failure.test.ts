import { describe, expect, it } from 'vitest';
import { formatImage } from '../builders/template-parts.ts';
import { planCluster } from '../plan.ts';
import type { ClusterSnapshot, PodView } from '../snapshot.ts';
import { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { bear, condition, settle } from '../testing/settle.ts';
import { versions } from '../testing/upgrades.ts';

const image = (tag: string) => ({ name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' }) as const;

/** In the middle of a roll: of the two replicas of a shard one has been replaced and is in sync, the other is next. */
function rollHalfAShard() {
  const cluster = bear({ replicas: 2, spec: { valkeyImage: image('8.1') } });
  cluster.change({ valkeyImage: image('9.1') });
  const isNew = ({ image: own }: { readonly image: string }) => own.endsWith('9.1');
  for (let round = 0; round < 60 && !cluster.pods.some((pod) => isNew(pod) && pod.node?.linkUp); round += 1) {
    cluster.reconcile();
    cluster.tick();
  }
  const replaced = cluster.pods.find(isNew)!;
  const { primaryId } = replaced.node!;
  const next = cluster.pods.find((pod) => pod.node?.primaryId === primaryId && !isNew(pod))!;
  return { cluster, snapshot: cluster.snapshot(), replaced: replaced.name, next: next.name };
}

function change({ pods, ...snapshot }: ClusterSnapshot, names: readonly string[], how: (pod: PodView) => PodView[]) {
  return { ...snapshot, pods: pods.flatMap((pod) => (names.includes(pod.name) ? how(pod) : [pod])) };
}

/** Receives all data of its primary anew. */
function copying(pod: PodView): PodView[] {
  const replication = { offset: 0, linkUp: false, syncInProgress: true, syncedOnce: false };
  return pod.report ? [{ ...pod, ready: false, report: { ...pod.report, replication, ready: false } }] : [];
}

function deleted(snapshot: ClusterSnapshot): string[] {
  const actions = planCluster(snapshot).stages.flat();
  return actions.flatMap((action) => (action.type === 'DeletePod' ? [action.pod] : []));
}

/** It says that it is another version than its tag, for which the roll is given up; the StatefulSet makes old pods again. */
function giveUp(cluster: SimulatedCluster, name: string): ClusterSnapshot {
  const seen = change(cluster.snapshot(), [name], (pod) => {
    const process = { ...pod.report!.process, version: '9.0.9' };
    return [{ ...pod, report: { ...pod.report!, process } }];
  });
  const key = `ValkeyClusterStatus/${cluster.names.status}`;
  cluster.children.set(key, { ...cluster.children.get(key)!, status: planCluster(seen).detail });
  cluster.reconcile();
  return cluster.snapshot();
}

describe('a replica of the old template that receives its data anew', () => {
  it('is replaced at once while the others of its shard serve', () => {
    const { snapshot, next } = rollHalfAShard();
    expect(deleted(change(snapshot, [next], copying))).toEqual([next]);
  });

  it('is left alone while another of its shard does so too', () => {
    const { snapshot, replaced, next } = rollHalfAShard();
    expect(deleted(change(snapshot, [replaced, next], copying))).toEqual([]);
  });

  it('is left alone while another of its shard is away', () => {
    const { snapshot, replaced, next } = rollHalfAShard();
    expect(
      deleted(
        change(
          change(snapshot, [replaced], () => []),
          [next],
          copying,
        ),
      ),
    ).toEqual([]);
  });
});

const MINUTE_MS = 60_000;

describe('a replica that is out of sync before a roll has begun', () => {
  const closed = [{ cron: '0 3 1 1 *', duration: '1h' }];

  /** Another version is asked for, and a replica loses its link. */
  function unwell(maintenanceWindows: typeof closed) {
    const cluster = bear({ spec: { valkeyImage: image('8.1'), maintenanceWindows } });
    cluster.change({ valkeyImage: image('9.1') });
    const { name, ordinal } = cluster.pods.find(({ node }) => node?.role === 'replica')!;
    Object.assign(cluster.pod(ordinal).node!, { linkUp: false, syncing: false, syncedOnce: false });
    return { cluster, name };
  }

  it('gets its data, and does not begin it outside the maintenance window', () => {
    const { cluster } = unwell(closed);
    expect(condition(settle(cluster, 20), 'Progressing')).toMatchObject({ reason: 'WaitingForMaintenanceWindow' });
    expect(versions(cluster)).toEqual(['8.1']);
  });

  it('keeps it from beginning, unless it needs the new template to get well, as it seems after a while', () => {
    const { cluster, name } = unwell([]);
    cluster.annotate('allowUnknownVersion');
    const goneAfter = (minutes: number) => {
      cluster.now += minutes * MINUTE_MS;
      cluster.reconcile();
      return deleted(cluster.snapshot());
    };
    expect([0, 9, 2].map(goneAfter)).toEqual([[], [], [name]]);
  });
});

const memory = (size: string) => ({ resources: { requests: { memory: size }, limits: { memory: size } } });
const typo = image('9.1-typo');

/** As many rounds until a pod was made that cannot start. */
function breakOne(cluster: SimulatedCluster, template: Parameters<SimulatedCluster['change']>[0]): void {
  cluster.brokenImages.add(formatImage(typo));
  cluster.imageTrials.blind = true;
  cluster.nodeMemory = 1024 ** 3;
  cluster.refusesResize = true;
  cluster.change(template);
  for (let round = 0; round < 60 && !cluster.pods.some((pod) => pod.broken || pod.homeless); round += 1) {
    cluster.reconcile();
    cluster.tick();
  }
}

describe('pods that no node takes', () => {
  it.each(['512Mi', '700Mi', '256Mi'])('are made anew when the spec asks for less (%s)', (size) => {
    const cluster = bear({ spec: memory('512Mi') });
    breakOne(cluster, memory('8Gi'));
    expect(condition(settle(cluster, 5), 'Ready')).toMatchObject({ reason: 'Unschedulable' });
    cluster.change(memory(size));
    expect(condition(settle(cluster, 100), 'Ready')).toMatchObject({ status: 'True' });
  });

  it('are made anew before they were ever part of a cluster', () => {
    const cluster = new SimulatedCluster({ spec: memory('8Gi') });
    cluster.nodeMemory = 1024 ** 3;
    expect(condition(settle(cluster, 5), 'Ready')).toMatchObject({ reason: 'Unschedulable' });
    cluster.change(memory('512Mi'));
    expect(condition(settle(cluster, 100), 'Ready')).toMatchObject({ status: 'True' });
  });
});

describe('a primary without a volume that was made anew of a template with which it cannot start', () => {
  it.each([
    ['an image that does not exist', { valkeyImage: typo }],
    ['more memory than any node has', memory('8Gi')],
  ])('(%s) is made anew again when the spec is corrected: it has no data that it could keep', (_what, template) => {
    const good = { valkeyImage: image('8.1'), ...memory('512Mi') };
    const cluster = bear({ spec: good });
    breakOne(cluster, template);
    // Its only replica was made of that template first.
    cluster.losePod(0, { volume: true });
    for (let second = 0; second < 5; second += 1) cluster.tick();
    expect(condition(settle(cluster, 5), 'Ready')).toMatchObject({ status: 'False' });
    cluster.change(good);
    expect(condition(settle(cluster, 100), 'Ready')).toMatchObject({ status: 'True' });
  });
});

describe('a pod for which a roll was given up', () => {
  it('goes back in its turn where it serves, not while another of its shard is away', () => {
    const { cluster, replaced, next } = rollHalfAShard();
    const failed = giveUp(cluster, replaced);
    expect(deleted(failed)).toEqual([replaced]);
    expect(deleted(change(failed, [next], () => []))).toEqual([]);
  });

  it('is replaced at once where it does not serve', () => {
    const { cluster, replaced, next } = rollHalfAShard();
    const failed = change(giveUp(cluster, replaced), [replaced], copying);
    expect(deleted(failed)).toEqual([replaced]);
    expect(deleted(change(failed, [next], () => []))).toEqual([replaced]);
  });
});
