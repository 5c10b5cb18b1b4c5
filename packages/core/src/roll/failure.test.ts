import type { ValkeyUpgrade } from '@valkey-operator/api';
import { describe, expect, it } from 'vitest';
import { formatImage } from '../builders/template-parts.ts';
import { planCluster } from '../plan.ts';
import type { ClusterSnapshot, NodeView, PodView } from '../snapshot.ts';
import { bear, condition, settle } from '../testing/settle.ts';
import { askFor, pass, versions } from '../testing/upgrades.ts';

const MINUTE_MS = 60_000;
const image = (tag: string) => ({ name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' }) as const;

type Patience = Partial<
  Pick<ValkeyUpgrade['spec'], 'podReadyTimeout' | 'replicationSyncTimeout' | 'rollbackOnFailure'>
>;

/** A roll, by a ValkeyUpgrade of such patience if any, of which the first pod, a replica, is new, well, and two hours old. */
function beginRoll(patience?: Patience) {
  const cluster = bear({ spec: { valkeyImage: image('8.1') } });
  if (patience) askFor(cluster, 'up', { targetVersion: '9.1', ...patience });
  else cluster.change({ valkeyImage: image('9.1') });
  const isNew = ({ pods }: typeof cluster) => pods.find((pod) => pod.image.endsWith('9.1') && pod.node?.linkUp);
  for (let round = 0; round < 60 && !isNew(cluster); round += 1) {
    cluster.reconcile();
    cluster.tick();
  }
  const { name, node } = isNew(cluster)!;
  cluster.now += 120 * MINUTE_MS;
  return { name, primaryId: node!.primaryId, snapshot: cluster.snapshot() };
}

type Change = (pod: PodView & { readonly report: NodeView }) => PodView;

function changePods(snapshot: ClusterSnapshot, change: Change): ClusterSnapshot {
  return { ...snapshot, pods: snapshot.pods.map((pod) => (pod.report ? change({ ...pod, report: pod.report }) : pod)) };
}

/** Not ready for so long, by the word of its kubelet. */
function unready({ now }: ClusterSnapshot, minutes: number) {
  return { ready: false, readyChangedAt: now - minutes * MINUTE_MS };
}

function withoutReport(pod: PodView): PodView {
  const { report: _report, ...silent } = pod;
  return silent;
}

/** What the roll is given up for, if it is. */
function whyGivenUp(snapshot: ClusterSnapshot): string | undefined {
  return planCluster(snapshot).detail.failedRoll?.message;
}

describe('an operator that has just begun to lead', () => {
  it('has heard nobody yet, and gives up no roll for that', () => {
    const { name, snapshot } = beginRoll();
    const mute = changePods(snapshot, (pod) =>
      withoutReport(pod.name === name ? { ...pod, ...unready(snapshot, 20) } : pod),
    );
    for (const minutes of [0, 1, 30]) {
      const since = snapshot.now - minutes * MINUTE_MS;
      expect(whyGivenUp({ ...mute, operator: { ...snapshot.operator, since } })).toBeUndefined();
    }
  });

  it('gives it up for a pod that it has seen made and never heard', () => {
    const { name, snapshot } = beginRoll();
    const mute = changePods(snapshot, (pod) => (pod.name === name ? withoutReport(pod) : pod));
    const { createdAt } = mute.pods.find((pod) => pod.name === name)!;
    const at = (since: number) => ({ ...mute, operator: { ...snapshot.operator, since } });
    expect(whyGivenUp(at(createdAt - 1))).toContain('not started within 10 minutes');
  });

  it('takes the word of the scheduler and of the kubelet, who were there before it', () => {
    const { name, snapshot } = beginRoll();
    const fresh = { ...snapshot, operator: { ...snapshot.operator, since: snapshot.now } };
    const waiting = { container: 'valkey', reason: 'CrashLoopBackOff', message: 'back-off' };
    const crashing = changePods(fresh, (pod) =>
      withoutReport(pod.name === name ? { ...pod, ...unready(snapshot, 1), waiting } : pod),
    );
    expect(whyGivenUp(crashing)).toContain('CrashLoopBackOff');
    const homeless = changePods(fresh, (pod) =>
      withoutReport(pod.name === name ? { ...pod, ready: false, unschedulable: '0/3 nodes fit' } : pod),
    );
    expect(whyGivenUp(homeless)).toContain('0/3 nodes fit');
  });
});

describe('a pod of the new template that was well', () => {
  const strike = (
    minutes: number,
    change: (report: NodeView) => Partial<NodeView>,
    more: Partial<PodView> = {},
    patience?: Patience,
  ) => {
    const { name, snapshot } = beginRoll(patience);
    return changePods(snapshot, (pod) =>
      pod.name === name
        ? {
            ...pod,
            ...unready(snapshot, minutes),
            ...more,
            report: { ...pod.report, ready: false, ...change(pod.report) },
          }
        : pod,
    );
  };
  const copying = ({ replication }: NodeView) => ({
    replication: { ...replication!, linkUp: false, syncInProgress: true },
  });
  const loading = ({ process }: NodeView) => ({
    cluster: undefined,
    process: { ...process, state: 'loading' },
  });
  const down = ({ process }: NodeView) => ({ cluster: undefined, process: { ...process, state: 'starting' } });
  const crashing = { waiting: { container: 'valkey', reason: 'CrashLoopBackOff', message: 'back-off' } };

  it.each([
    ['copies its primary anew', copying, 59, undefined],
    ['copies its primary for an hour', copying, 61, 'not in sync with its primary within 60 minutes'],
    ['has been started anew', down, 9, undefined],
    ['does not start anew', down, 11, 'not started within 10 minutes'],
    ['loads its data', loading, 59, undefined],
    ['loads its data for an hour', loading, 61, 'not loaded its data within 60 minutes'],
  ] as const)('and %s is judged by the time since then, not by its age', (_what, change, minutes, why) => {
    const given = whyGivenUp(strike(minutes, change as (report: NodeView) => Partial<NodeView>));
    if (why === undefined) expect(given).toBeUndefined();
    else expect(given).toContain(why);
  });

  it.each([
    [{ podReadyTimeout: '2m' }, down, 1.5, undefined],
    [{ podReadyTimeout: '2m' }, down, 3, 'not started within 2 minutes'],
    [{ podReadyTimeout: '30m' }, down, 29, undefined],
    [{ replicationSyncTimeout: '5m' }, copying, 6, 'not in sync with its primary within 5 minutes'],
    [{ replicationSyncTimeout: '5m' }, loading, 6, 'not loaded its data within 5 minutes'],
    [{ replicationSyncTimeout: '3h' }, copying, 119, undefined],
  ] as const)('is given the time of the ValkeyUpgrade %o', (patience, change, minutes, why) => {
    const given = whyGivenUp(strike(minutes, change as (report: NodeView) => Partial<NodeView>, {}, patience));
    if (why === undefined) expect(given).toBeUndefined();
    else expect(given).toContain(why);
  });

  it('is held where it is by a ValkeyUpgrade that shall not roll back', () => {
    const patience = { podReadyTimeout: '2m', rollbackOnFailure: false };
    const { detail, upgrades, stages } = planCluster(strike(3, down as never, {}, patience));
    expect(detail.failedRoll).toBeUndefined();
    expect(upgrades?.[0]?.status.conditions?.[0]?.message).toMatch(/^Held at pod demo-4: .* within 2 minutes/);
    expect(stages.flat().filter(({ type }) => type === 'DeletePod')).toEqual([]);
  });

  it('and ended a moment ago is given time to start', () => {
    expect(whyGivenUp(strike(0.5, down as never, crashing))).toBeUndefined();
    expect(whyGivenUp(strike(1, down as never, crashing))).toContain('CrashLoopBackOff');
  });

  it('waits for its primary as long as that takes', () => {
    const { primaryId } = beginRoll();
    const snapshot = strike(61, copying);
    const late = changePods(snapshot, (pod) =>
      pod.report.cluster?.nodeId === primaryId ? { ...pod, readyChangedAt: snapshot.now - MINUTE_MS } : pod,
    );
    expect(whyGivenUp(late)).toBeUndefined();
  });

  it('and is not heard any more is not known to have failed', () => {
    const snapshot = strike(120, ({ process }) => ({
      receivedAt: 0,
      live: false,
      cluster: undefined,
      process: { ...process, state: 'starting' },
    }));
    expect(whyGivenUp(snapshot)).toBeUndefined();
  });

  it('and is held at its start gate waits for others, not for another template', () => {
    const gate = { reason: 'REPLICA_MAY_HAVE_MORE_DATA', message: 'held', since: 0 };
    const held = strike(
      61,
      ({ process }) => ({ cluster: undefined, process: { ...process, state: 'gated', gate } }) as never,
    );
    expect(whyGivenUp(held)).toBeUndefined();
  });
});

describe('a restart that is asked for while the first pod of a roll does not start', () => {
  it('waits until the roll was given up for that pod', () => {
    const cluster = bear({ spec: { valkeyImage: image('8.1') } });
    cluster.imageTrials.blind = true;
    cluster.brokenImages.add(formatImage(image('9.1-typo')));
    cluster.change({ valkeyImage: image('9.1-typo') });
    pass(cluster, 5);
    expect(cluster.pods.filter(({ broken }) => broken)).toHaveLength(1);
    const restartAt = cluster.now;
    cluster.annotate('restartAt', new Date(restartAt).toISOString());
    expect(condition(settle(cluster, 200), 'Ready')).toMatchObject({ status: 'True' });
    expect(versions(cluster)).toEqual(['8.1']);
    expect(cluster.pods.every(({ createdAt }) => createdAt >= restartAt)).toBe(true);
  });
});
