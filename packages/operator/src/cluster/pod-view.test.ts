import type { Pod } from '@valkey-operator/kube';
import { describe, expect, test } from 'vitest';
import { aPod } from '../testing/builders.ts';
import { hasSidecar, ordinalOf, viewPod } from './pod-view.ts';

const zones = new Map([['node-1', 'zone-a']]);

describe('viewPod', () => {
  test('leaves out what a pod that was just made does not have', () => {
    expect(viewPod(aPod('demo-3'), { zones })).toEqual({
      name: 'demo-3',
      uid: 'demo-3-uid',
      ordinal: 3,
      phase: 'Unknown',
      ready: false,
      createdAt: Date.UTC(2026, 10, 15),
      labels: { 'valkey.io/cr': 'demo' },
      annotations: {},
      finalizers: [],
      valkeyRestarts: 0,
    });
  });

  test('says where a pod runs and how often its Valkey restarted', () => {
    const pod = aPod('demo-0', {
      spec: { nodeName: 'node-1', containers: [] },
      status: {
        phase: 'Running',
        podIP: '10.0.0.1',
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '1970-01-01T00:00:07Z' }],
        containerStatuses: [{ name: 'valkey', restartCount: 2, image: '', imageID: '', ready: true }],
      },
    });
    expect(viewPod(pod, { zones, reportedIp: '10.9.9.9' })).toMatchObject({
      ip: '10.0.0.1',
      kubernetesNode: 'node-1',
      zone: 'zone-a',
      ready: true,
      readyChangedAt: 7000,
      valkeyRestarts: 2,
    });
  });

  test('takes the word of the sidecar for an address that the kubelet has yet to write', () => {
    expect(viewPod(aPod('demo-0'), { zones, reportedIp: '10.0.0.1' }).ip).toBe('10.0.0.1');
  });

  test('repeats the scheduler, but for the stop at its end', () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes fit.' }];
    expect(viewPod(aPod('demo-0', { status: { conditions } }), { zones }).unschedulable).toBe('0/3 nodes fit');
  });

  test.each([
    ['ImagePullBackOff', { container: 'valkey', reason: 'ImagePullBackOff', message: 'no such image' }],
    ['ContainerCreating', undefined],
    ['PodInitializing', undefined],
  ])('tells a container that is stuck in %s from one that waits for its turn', (reason, expected) => {
    const state = { waiting: { reason, message: 'no such image' } };
    const container = { name: 'valkey', state, restartCount: 0, image: '', imageID: '', ready: false };
    expect(viewPod(aPod('demo-0', { status: { containerStatuses: [container] } }), { zones }).waiting).toEqual(
      expected,
    );
  });
});

describe('other resources', () => {
  type Conditions = NonNullable<NonNullable<Pod['status']>['conditions']>;
  const pending: Conditions = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible', message: 'too much' }];
  const underWay: Conditions = [{ type: 'PodResizeInProgress', status: 'True' }];
  const failed: Conditions = [{ type: 'PodResizeInProgress', status: 'True', reason: 'Error', message: 'in use' }];
  const view = (generation: number, status: NonNullable<Pod['status']>, deletionTimestamp?: string) => {
    const pod = aPod('demo-0', { status });
    const metadata = { ...pod.metadata, generation, ...(deletionTimestamp && { deletionTimestamp }) };
    const { resizing, resizePending } = viewPod({ ...pod, metadata }, { zones });
    return { resizing, resizePending };
  };

  test.each([
    ['were given', { observedGeneration: 2 }, {}],
    ['cannot be told to be under way by a kubelet that says neither what it has seen nor what there is', {}, {}],
    ['are not known to the kubelet yet', { observedGeneration: 1 }, { resizing: true }],
    ['are being given', { observedGeneration: 2, conditions: underWay }, { resizing: true }],
    ['are being given by an older kubelet', { conditions: underWay }, { resizing: true }],
    ['are not there', { observedGeneration: 2, conditions: pending }, { resizePending: 'too much' }],
    ['could not be given', { observedGeneration: 2, conditions: failed }, { resizePending: 'in use' }],
    [
      'were asked for after others that are not there',
      { observedGeneration: 1, conditions: pending },
      { resizing: true },
    ],
  ])('%s', (_what, status, expected) => {
    expect(view(2, status)).toEqual({ resizing: undefined, resizePending: undefined, ...expected });
  });

  test('are not what a pod waits for that is being deleted', () => {
    expect(view(3, { observedGeneration: 2 }, '2026-11-15T00:00:00Z').resizing).toBeUndefined();
  });

  describe('of a kubelet before Kubernetes 1.34, which does not say what it has seen,', () => {
    const promised = { cpu: '1500m', memory: '8Gi' };
    const look = (limits: object | undefined, status: Pod['status'] = {}, deletionTimestamp?: string) => {
      const resources = limits && { limits: { ...promised, ...limits } };
      const container = { name: 'valkey', restartCount: 0, image: '', imageID: '', ready: true };
      const pod = aPod('demo-0', {
        spec: { containers: [{ name: 'valkey', resources: { limits: promised } }] },
        status: { ...status, containerStatuses: [{ ...container, ...(resources && { resources }) }] },
      });
      const metadata = { ...pod.metadata, ...(deletionTimestamp && { deletionTimestamp }) };
      const { resizing, resizePending } = viewPod({ ...pod, metadata }, { zones });
      return { resizing, resizePending };
    };

    test.each([
      ['are being given while the container has less memory', { memory: '1Gi' }, {}, { resizing: true }],
      ['are being given while the container has less CPU', { cpu: '1' }, {}, { resizing: true }],
      ['were given when it has them, however they are written', { memory: '8589934592', cpu: '1.5' }, {}, {}],
      ['were given when it has more: nothing depends on that', { memory: '9Gi' }, {}, {}],
      ['are taken for given where it does not say what the container has', undefined, {}, {}],
      ['are not there when it says so', { memory: '1Gi' }, { conditions: pending }, { resizePending: 'too much' }],
      [
        'were given when a newer one has seen them, which then says what it lacks',
        { memory: '1Gi' },
        { observedGeneration: 2 },
        {},
      ],
    ])('%s', (_what, limits, status, expected) => {
      expect(look(limits, status)).toEqual({ resizing: undefined, resizePending: undefined, ...expected });
    });

    test('are not waited for by a pod that is being deleted', () => {
      expect(look({ memory: '1Gi' }, {}, '2026-11-15T00:00:00Z').resizing).toBeUndefined();
    });
  });
});

describe('a sidecar', () => {
  const running = (phase: string, state: object) => {
    const sidecar = { name: 'sidecar', state, restartCount: 0, image: '', imageID: '', ready: false };
    return aPod('demo-0', { status: { phase, initContainerStatuses: [sidecar] } });
  };

  test('can be reached when its container runs, or when it has been heard already', () => {
    expect(hasSidecar(running('Pending', { running: {} }), false)).toBe(true);
    expect(hasSidecar(running('Pending', { waiting: {} }), false)).toBe(false);
    expect(hasSidecar(aPod('demo-0'), false)).toBe(false);
    expect(hasSidecar(aPod('demo-0'), true)).toBe(true);
  });

  test.each(['Succeeded', 'Failed'])('is not looked for in a pod that has %s', (phase) => {
    expect(hasSidecar(running(phase, { running: {} }), true)).toBe(false);
  });
});

test.each([
  ['demo-12', 12],
  ['data-demo-3', 3],
  ['demo', -1],
])('the ordinal of %s is %i', (name, ordinal) => {
  expect(ordinalOf(name)).toBe(ordinal);
});

describe('a pod with an exporter', () => {
  type Status = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];
  const stopped = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } };
  const started = { running: { startedAt: '1970-01-01T00:00:05Z' } };
  const container = (name: string, rest: Partial<Status>): Status => ({
    name,
    restartCount: 0,
    image: '',
    imageID: '',
    ready: false,
    ...rest,
  });
  /** As the kubelet lists them: by name. */
  const view = (exporter: Partial<Status>, valkey: Partial<Status>, ready = false) =>
    viewPod(
      aPod('demo-0', {
        spec: { containers: [{ name: 'valkey' }, { name: 'exporter' }] },
        status: {
          conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '1970-01-01T00:00:07Z' }],
          containerStatuses: [container('exporter', exporter), container('valkey', valkey)],
        },
      }),
      { zones },
    );

  test('that runs is as ready as Kubernetes says', () => {
    const well = { ready: true, state: started };
    expect(view(well, well, true)).toMatchObject({
      ready: true,
      readyChangedAt: 7000,
      exporter: { ready: true, restarts: 0, startedAt: 5000 },
    });
    // As of a Kubernetes node that is lost: its last word on the containers stays.
    expect(view(well, well, false)).toMatchObject({ ready: false, readyChangedAt: 7000 });
  });

  test('that does not run is as ready as its Valkey, since that was started', () => {
    const { exporter, ...pod } = view({ state: stopped, restartCount: 4 }, { ready: true, state: started });
    expect(pod).toMatchObject({ ready: true, readyChangedAt: 5000 });
    expect(pod.waiting).toBeUndefined();
    const waiting = { container: 'exporter', reason: 'CrashLoopBackOff', message: 'back-off' };
    expect(exporter).toEqual({ ready: false, restarts: 4, unreadySince: 7000, waiting });
  });

  test('hides nothing of what is wrong with its Valkey', () => {
    const lastState = { terminated: { exitCode: 1, finishedAt: '1970-01-01T00:00:06Z', message: 'last words' } };
    expect(view({ state: stopped }, { state: stopped, lastState })).toMatchObject({
      ready: false,
      readyChangedAt: 6000,
      waiting: { container: 'valkey', reason: 'CrashLoopBackOff', lastWords: 'last words' },
    });
  });

  test('that nobody has told of yet has one that does not run', () => {
    const pod = aPod('demo-0', { spec: { containers: [{ name: 'valkey' }, { name: 'exporter' }] } });
    expect(viewPod(pod, { zones })).toMatchObject({ ready: false, exporter: { ready: false, restarts: 0 } });
  });
});
