import { annotations } from '@valkey-operator/api';
import type { Action } from '@valkey-operator/core';
import { expect, test } from 'vitest';
import { aCluster } from '../testing/builders.ts';
import { aPlan } from '../testing/plans.ts';
import { createCrashPoints, namePoint } from './crash-points.ts';

test('the process ends at each of the points that the annotation names, on the side that it names', () => {
  const crashes: string[] = [];
  const passed: string[] = [];
  const checkpoint = createCrashPoints({
    crash: (moment, point) => crashes.push(`${moment} ${point}`),
    pass: (point) => passed.push(point),
  });
  const cluster = aCluster();
  cluster.metadata.annotations = { [annotations.crashAt]: 'Create/LabelPod/after;Create/DeletePod/before' };
  for (const point of ['Create/LabelPod', 'Create/DeletePod', 'Create/ResizePod']) {
    checkpoint('before', point, cluster);
    checkpoint('after', point, cluster);
  }
  expect(crashes).toEqual(['after Create/LabelPod', 'before Create/DeletePod']);
  expect(passed).toEqual(['Create/DeletePod', 'Create/ResizePod']);
});

test('without an annotation nothing ends', () => {
  const fate = { crash: () => expect.unreachable(), pass: () => expect.unreachable() };
  createCrashPoints(fate)('before', 'Create/LabelPod', aCluster());
});

test('a point is named by operation and action', () => {
  const label: Action = { type: 'LabelPod', pod: 'demo-0', uid: 'u', labels: {} };
  expect(namePoint(aPlan(), label)).toBe('Upkeep/LabelPod');
  expect(namePoint(aPlan(), 'WriteStatus ValkeyCluster')).toBe('Upkeep/WriteStatus ValkeyCluster');
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

test('the write that tells of an end is named by what has ended, though something else begins with it', () => {
  const over = { id: 'x', kind: 'ScaleOut', outcome: 'Succeeded', startedAtMs: 0, endedAtMs: 1 } as const;
  const plan = aPlan([], { ended: [over] });
  expect(namePoint(plan, 'WriteStatus ValkeyCluster')).toBe('ScaleOut/WriteStatus ValkeyCluster, ended');
});
