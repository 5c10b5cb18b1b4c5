import { annotations } from '@valkey-operator/api';
import type { Action } from '@valkey-operator/core';
import { expect, test } from 'vitest';
import { aCluster } from '../testing/builders.ts';
import { aPlan } from '../testing/plans.ts';
import { createCrashPoints, namePoint } from './crash-points.ts';

const crashing = (wanted: string) => {
  const cluster = aCluster();
  cluster.metadata.annotations = { [annotations.crashAt]: wanted };
  return cluster;
};

test('the process ends at the n-th occurrence of a point, before or after it, in one term alone', () => {
  const crashes: string[] = [];
  const run = (term: number, wanted: string) => {
    const checkpoint = createCrashPoints(term, () => crashes.push(wanted));
    for (let time = 0; time < 3; time += 1) {
      checkpoint('before', 'Create/LabelPod', crashing(wanted));
      checkpoint('after', 'Create/LabelPod', crashing(wanted));
    }
  };
  run(4, 'Create/LabelPod#2/after@4');
  run(5, 'Create/LabelPod#2/after@4');
  run(4, 'Create/LabelPod#4/after@4');
  run(4, 'Create/DeletePod#1/after@4');
  expect(crashes).toEqual(['Create/LabelPod#2/after@4']);
});

test('without an annotation nothing ends', () => {
  createCrashPoints(1, () => expect.unreachable())('before', 'Create/LabelPod', aCluster());
});

test('a point is named by operation and action', () => {
  const label: Action = { type: 'LabelPod', pod: 'demo-0', uid: 'u', labels: {} };
  expect(namePoint(aPlan(), label)).toBe('Upkeep/LabelPod');
  expect(namePoint(aPlan(), 'WriteStatus')).toBe('Upkeep/WriteStatus');
  const orchestration = {
    id: 'x',
    kind: 'Create',
    step: 1,
    stepsTotal: 1,
    startedAt: '',
    attempts: 1,
    message: '',
  } as const;
  expect(namePoint(aPlan([], { status: { orchestration } }), label)).toBe('Create/LabelPod');
});
