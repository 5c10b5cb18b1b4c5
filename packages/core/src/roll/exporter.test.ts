import { annotations, builtInDefaults, type EffectiveClusterSpec } from '@valkey-operator/api';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../actions.ts';
import { planCluster } from '../plan.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition, settle } from '../testing/settle.ts';
import { viewOf } from '../testing/view.ts';

type Exporter = EffectiveClusterSpec['exporter'];

const BAD = 'docker.io/oliver006/redis_exporter:v9.9';
const on = (change: Partial<Exporter> = {}) => ({
  exporter: { ...builtInDefaults.exporter, enabled: true, ...change },
});
const tagged = (tag: string) => on({ image: { ...builtInDefaults.exporter.image, tag } });
const off = { exporter: builtInDefaults.exporter };
const sidecar = (tag: string) => ({
  sidecarImage: { name: 'example.com/sidecar', tag, pullPolicy: 'IfNotPresent' } as const,
});

/** Seconds pass. What was planned meanwhile, and which pods had to go. */
function watch(cluster: SimulatedCluster, seconds = 120, look: () => void = () => undefined) {
  const plans: Plan[] = [];
  for (let second = 0; second < seconds; second += 1) {
    plans.push(cluster.reconcile(checkPlan(cluster)));
    look();
    cluster.tick();
  }
  const actions = plans.flatMap(({ stages }) => stages.flat());
  const deleted = actions.flatMap((action) => (action.type === 'DeletePod' ? [action.pod] : []));
  return { plans, deleted, last: plans.at(-1)! };
}

const exportersOf = ({ pods }: SimulatedCluster) => pods.map(({ exporter }) => exporter);
const kindsOf = (plans: readonly Plan[]) => [
  ...new Set(plans.flatMap(({ status }) => status.orchestration?.kind ?? [])),
];

describe('a change of the exporter', () => {
  it.each([
    ['that comes', {}, on(), 'Reconfigure', 'with the exporter docker.io/oliver006/redis_exporter:v1.69.0'],
    ['that goes', on(), off, 'Reconfigure', 'no exporter'],
    ['to another port', on(), on({ port: 9200 }), 'Reconfigure', 'the port of its exporter, 9121 to 9200'],
    ['to other resources', on(), on({ resources: {} }), 'Reconfigure', 'the resources of its exporter'],
    [
      'to another image',
      on(),
      tagged('v1.86.0'),
      'Upgrade',
      'the exporter docker.io/oliver006/redis_exporter:v1.69.0 to docker.io/oliver006/redis_exporter:v1.86.0',
    ],
  ])('%s is a roll, and says what it is', (_what, before, change, kind, words) => {
    const cluster = bear({ spec: before });
    cluster.change(change);
    const { plans, deleted } = watch(cluster);
    expect(kindsOf(plans)).toEqual([kind]);
    expect(new Set(deleted).size).toBe(6);
    expect(deleted).toHaveLength(6);
    const told = plans.flatMap(({ events }) => events).filter(({ reason }) => reason === 'PodReplaced');
    expect(told[0]?.message).toContain(`is replaced: ${words}.`);
    const state = change.exporter.enabled ? 'running' : undefined;
    expect(exportersOf(cluster)).toEqual(cluster.pods.map(() => state));
  });

  it('that is not there restarts nothing, nor when only its pull policy is another', () => {
    const cluster = bear();
    cluster.change({ exporter: { ...builtInDefaults.exporter, port: 9200 } });
    expect(watch(cluster, 20).deleted).toEqual([]);
    const exporting = bear({ spec: on() });
    exporting.change(on({ image: { ...builtInDefaults.exporter.image, pullPolicy: 'Always' } }));
    expect(watch(exporting, 20).deleted).toEqual([]);
  });
});

describe('a new exporter that does not start', () => {
  it('costs one pod, a replica, and is taken back', () => {
    const cluster = bear({ spec: on() });
    cluster.brokenImages.add(BAD);
    cluster.change(tagged('v9.9'));
    const { plans, deleted, last } = watch(cluster, 150);
    // Taken away twice: for the new template, and for the way back.
    expect(new Set(deleted).size).toBe(1);
    expect(deleted).toHaveLength(2);
    expect(
      plans.flatMap(({ stages }) => stages.flat()).filter(({ type }) => type === 'CommandNode'),
    ).not.toContainEqual(expect.objectContaining({ command: expect.objectContaining({ do: 'failover' }) as unknown }));
    expect(condition(last, 'Degraded')).toMatchObject({ status: 'True', reason: 'RolledBack' });
    expect(condition(last, 'Degraded').message).toMatch(
      /pod demo-\d: container exporter does not start .*no such image/,
    );
    expect(exportersOf(cluster)).toEqual(cluster.pods.map(() => 'running'));
    expect(plans.every((plan) => condition(plan, 'Ready').status === 'True' || plan.status.orchestration)).toBe(true);
  });

  it('holds a roll of anything else at the first pod, which a person can end by doing without', () => {
    const cluster = bear({ spec: on() });
    cluster.brokenImages.add('docker.io/oliver006/redis_exporter:v1.69.0');
    cluster.change(sidecar('2'));
    const { deleted, last } = watch(cluster);
    expect(deleted).toHaveLength(1);
    expect(last.detail.failedRoll).toBeUndefined();
    expect(condition(last, 'Progressing').message).toMatch(/exporter of demo-\d must run before the next .*ImagePull/);
    cluster.change(off);
    const { last: done } = watch(cluster, 150);
    expect(condition(done, 'Degraded').status).toBe('False');
    expect(exportersOf(cluster)).toEqual(cluster.pods.map(() => undefined));
  });
});

it('a way back waits for no exporter', () => {
  const { cluster, made } = replaceFirst();
  for (const pod of cluster.pods) if (pod.name !== made) pod.exporter = 'broken';
  cluster.change({ sidecarImage: builtInDefaults.sidecarImage });
  expect(watch(cluster, 60).deleted).toEqual([made]);
  expect(viewOf(cluster).roll).toMatchObject({ changes: [], outdated: [] });
});

describe('the exporter of the first pod of a roll', () => {
  it.each([
    ['that has yet to come up holds the roll', false, 0, 0, true],
    ['that came up does not', true, 0, 0, false],
    ['that was started anew a moment ago holds it', true, 1, 5, true],
    ['that was started anew and stays does not', true, 1, 60, false],
  ])('%s', (_what, ready, restarts, seconds, isHeld) => {
    const { snapshot, made } = replaceFirst();
    const exporter = { ready, restarts, startedAt: snapshot.now - seconds * 1000 };
    const pods = snapshot.pods.map((pod) => (pod.name === made ? { ...pod, exporter } : pod));
    const { stages, status } = planCluster({ ...snapshot, pods });
    expect(goesOn(stages)).toBe(!isHeld);
    expect(status.orchestration?.message?.includes(`The exporter of ${made} must run`)).toBe(isHeld);
  });
});

const goesOn = (stages: Plan['stages']) =>
  stages.flat().some((action) => action.type === 'CommandNode' && action.command.do === 'failover');

/** A roll whose first pod is back and well, just before it takes over from its primary, which goes next. */
function replaceFirst() {
  const cluster = bear({ spec: on() });
  cluster.change(sidecar('2'));
  for (let second = 0; second < 60; second += 1) {
    const snapshot = cluster.snapshot();
    const old = new Set(viewOf(cluster).roll.outdated.map(({ pod }) => pod.name));
    if (goesOn(planCluster(snapshot).stages))
      return { cluster, snapshot, made: snapshot.pods.find(({ name }) => !old.has(name))!.name };
    cluster.reconcile();
    cluster.tick();
  }
  throw new Error('the roll did not come to its first primary');
}

describe('an exporter that ends', () => {
  const strike = (ordinals: readonly number[]) => {
    const cluster = bear({ spec: on() });
    for (const ordinal of ordinals) cluster.pod(ordinal).exporter = 'broken';
    return cluster;
  };

  it.each([[[0]], [[5]], [[0, 1, 2, 3, 4, 5]]])('in pods %o is told, and nothing is done about it', (ordinals) => {
    const cluster = strike(ordinals);
    const { plans, last } = watch(cluster, 100);
    expect(plans.flatMap(({ stages }) => stages.flat())).toEqual([]);
    expect(condition(last, 'Ready')).toMatchObject({ status: 'True', reason: 'Healthy' });
    expect(condition(last, 'Progressing')).toMatchObject({ status: 'False', reason: 'Healthy' });
    const { reason, message } = condition(last, 'Degraded');
    expect(reason).toBe('ExporterUnavailable');
    expect(message).toContain(`Container exporter of pod demo-${ordinals[0]} cannot pull its image`);
    expect(message).toContain('spec.exporter.enabled to false');
    expect(last.events).toEqual([{ reason, message }]);
    expect(last.status.exporter).toMatchObject({ enabled: true, pods: `${6 - ordinals.length}/6` });
  });

  it.each([
    ['that runs again for a moment is told all the same', { restarts: 4, startedAt: 10 }, 'True'],
    ['that has run for a minute is well again', { restarts: 4, startedAt: 60 }, 'False'],
    ['that was started anew once is well', { restarts: 1, startedAt: 10 }, 'False'],
  ])('and %s', (_what, { restarts, startedAt }, status) => {
    const snapshot = bear({ spec: on() }).snapshot();
    const exporter = { ready: true, restarts, startedAt: snapshot.now - startedAt * 1000 };
    const plan = planCluster({ ...snapshot, pods: snapshot.pods.map((pod) => ({ ...pod, exporter })) });
    expect(condition(plan, 'Degraded').status).toBe(status);
  });

  it('and does not come up is told when it had its time', () => {
    const snapshot = bear({ spec: on() }).snapshot();
    const told = (seconds: number) => {
      const exporter = { ready: false, restarts: 0, unreadySince: snapshot.now - seconds * 1000 };
      const plan = planCluster({ ...snapshot, pods: snapshot.pods.map((pod) => ({ ...pod, exporter })) });
      return condition(plan, 'Degraded').message;
    };
    expect(told(50)).toBe('Nothing is lost or broken.');
    expect(told(70)).toMatch(
      /exporter of pod demo-0 does not stay up: see kubectl logs demo-0 -c exporter.*for demo-1/,
    );
  });

  it('is no reason why Valkey is not well', () => {
    const cluster = strike([0]);
    cluster.killProcess(5, { data: true });
    const plan = cluster.reconcile();
    expect(condition(plan, 'Ready').status).toBe('False');
    expect(condition(plan, 'Ready').reason).not.toBe('ExporterUnavailable');
  });

  it.each([0, 1, 2, 3, 4, 5])('holds no repair: the process of demo-%i is lost meanwhile', (ordinal) => {
    const cluster = strike([0, 1, 2, 3, 4, 5]);
    cluster.losePod(ordinal, { volume: true });
    expect(condition(settle(cluster), 'Ready').status).toBe('True');
  });

  it('goes with the exporter, pod by pod, and none of them as one that does not serve', () => {
    const cluster = strike([3, 4]);
    cluster.change(off);
    const { plans, last } = watch(cluster);
    const told = plans.flatMap(({ events }) => events).map(({ message }) => message);
    expect(told.filter((message) => /demo-[34].* does not serve/.test(message))).toEqual([]);
    expect(condition(last, 'Degraded').status).toBe('False');
    expect(last.status.exporter).toBeUndefined();
  });
});

/** As an operator left it that took the field and did nothing for it. */
function forgetExporters(cluster: SimulatedCluster): void {
  const strip = (text = '') => text.replace(/ exporter=.*/, '');
  for (const pod of cluster.pods) {
    pod.annotations[annotations.template] = strip(pod.annotations[annotations.template]);
    pod.exporter = undefined;
  }
  const key = `StatefulSet/${cluster.names.statefulSet}`;
  const text = JSON.stringify(cluster.children.get(key)).replaceAll(/ exporter=[^"]*/g, '');
  cluster.children.set(key, JSON.parse(text) as never);
  cluster.children.delete(`Service/${cluster.names.exporterService}`);
}

describe('a new operator', () => {
  it.each([
    ['without an exporter', off],
    ['that asked for one in vain', on()],
  ])('restarts nothing of a cluster %s', (_what, spec) => {
    const cluster = bear({ spec });
    forgetExporters(cluster);
    expect(watch(cluster, 20).deleted).toEqual([]);
    expect(viewOf(cluster).roll).toMatchObject({ changes: [], outdated: [], begun: true });
  });

  it('gives an exporter to the next pods of a cluster that asked for one in vain, and to all by a restart', () => {
    const cluster = bear({ spec: on() });
    forgetExporters(cluster);
    expect(watch(cluster, 5).last.status.exporter).toMatchObject({ enabled: true, pods: '0/6' });
    cluster.losePod(5);
    settle(cluster);
    expect(exportersOf(cluster).filter(Boolean)).toHaveLength(1);
    cluster.annotate('restartAt', new Date(cluster.now).toISOString());
    expect(watch(cluster).last.status.exporter).toMatchObject({ pods: '6/6' });
  });

  it('takes away no pod for an exporter that is not in it', () => {
    const cluster = bear({ spec: on() });
    forgetExporters(cluster);
    watch(cluster, 5);
    cluster.change(off);
    expect(watch(cluster, 20).deleted).toEqual([]);
    expect(viewOf(cluster).roll).toMatchObject({ changes: [], good: off });
  });

  it('tries no roll again that was given up before', () => {
    const cluster = bear({ spec: { valkeyImage: { ...builtInDefaults.valkeyImage, tag: '8.1' } } });
    cluster.imageTrials.blind = true;
    cluster.brokenImages.add('docker.io/valkey/valkey:9.9');
    cluster.change({ valkeyImage: { ...builtInDefaults.valkeyImage, tag: '9.9' } });
    watch(cluster, 150);
    forgetExporters(cluster);
    const detail = cluster.children.get(`ValkeyClusterStatus/${cluster.names.status}`)!;
    const text = JSON.stringify(detail).replaceAll(/ exporter=\w*/g, '');
    cluster.children.set(`ValkeyClusterStatus/${cluster.names.status}`, JSON.parse(text) as never);
    const { deleted, last } = watch(cluster, 60);
    expect(deleted).toEqual([]);
    expect(condition(last, 'Degraded').reason).toBe('RolledBack');
  });
});
