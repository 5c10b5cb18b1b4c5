import type { Live, Node, Pod } from '@valkey-operator/kube';
import { describe, expect, test } from 'vitest';
import { componentProblems, nodeProblems, podProblems } from './lab-problems.ts';

const metadata = { name: 'demo-0', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
const pod = (status: Pod['status']) => ({ apiVersion: 'v1', kind: 'Pod', metadata, status }) as Live<Pod>;
const container = (state: object, ready = false) => ({
  name: 'valkey',
  ready,
  restartCount: 0,
  image: '',
  imageID: '',
  state,
});

describe('a component', () => {
  const facts = { name: 'node1/kubelet', pid: 42, log: '/logs/kubelet.log', lastLine: 'panic: no luck' };

  test('that runs is no problem', () => {
    expect(componentProblems({ ...facts, state: 'running' }, 'make lab-up')).toEqual([]);
  });

  test('that has stopped is shown with its last line, and how to start it again', () => {
    expect(componentProblems({ ...facts, state: 'stopped' }, 'make lab-up starts it again')).toEqual([
      {
        what: 'node1/kubelet has stopped; its last line: panic: no luck',
        remedy: 'read /logs/kubelet.log; make lab-up starts it again',
      },
    ]);
  });

  test('that is frozen is shown with the command that thaws it', () => {
    const [problem] = componentProblems({ ...facts, state: 'frozen' }, '');
    expect(problem).toEqual({ what: 'node1/kubelet is frozen, as by a test', remedy: 'thaw it: kill -CONT 42' });
  });
});

describe('a node', () => {
  const node = (conditions: object[]) =>
    ({ metadata: { ...metadata, name: 'node1' }, status: { conditions } }) as Live<Node>;

  test('that is Ready is no problem', () => {
    expect(nodeProblems(node([{ type: 'Ready', status: 'True' }]), '/log')).toEqual([]);
  });

  test('that is not Ready says why, and where its kubelet says more', () => {
    const silent = node([{ type: 'Ready', status: 'Unknown', message: 'Kubelet stopped posting node status.' }]);
    expect(nodeProblems(silent, '/log')).toEqual([
      { what: 'node1 is not Ready: Kubelet stopped posting node status.', remedy: 'read /log' },
    ]);
    expect(nodeProblems(node([]), '/log')[0]!.what).toBe('node1 is not Ready: its kubelet has not said so yet');
  });
});

describe('a pod', () => {
  test.each([
    ['that runs', pod({ phase: 'Running', containerStatuses: [container({ running: {} }, true)] })],
    ['that is done', pod({ phase: 'Succeeded', containerStatuses: [container({ terminated: {} })] })],
    [
      'that is being started',
      pod({ phase: 'Pending', containerStatuses: [container({ waiting: { reason: 'ContainerCreating' } })] }),
    ],
    ['of which nothing is known yet', pod({ phase: 'Pending' })],
  ])('%s is no problem', (_which, healthy) => {
    expect(podProblems(healthy)).toEqual([]);
  });

  test('that no node takes says why', () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }];
    expect(podProblems(pod({ phase: 'Pending', conditions }))).toEqual([
      {
        what: 'pod default/demo-0 cannot be scheduled: 0/3 nodes are available',
        remedy: 'kubectl -n default describe pod demo-0',
      },
    ]);
  });

  test('whose container does not start says which and why, also an init container', () => {
    const waiting = container({ waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } });
    const init = { ...container({ waiting: { reason: 'ImagePullBackOff' } }), name: 'sidecar' };
    const status = { phase: 'Pending', containerStatuses: [waiting], initContainerStatuses: [init] } as Pod['status'];
    expect(podProblems(pod(status)).map(({ what }) => what)).toEqual([
      'pod default/demo-0, container sidecar: ImagePullBackOff',
      'pod default/demo-0, container valkey: CrashLoopBackOff, back-off 10s',
    ]);
  });
});
