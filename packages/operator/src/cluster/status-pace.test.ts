import type { ValkeyCluster, ValkeyClusterStatus } from '@valkey-operator/api';
import { describe, expect, test } from 'vitest';
import { createDetailPace, createSummaryPace } from './status-pace.ts';

type Status = NonNullable<ValkeyCluster['status']>;
type Detail = NonNullable<ValkeyClusterStatus['status']>;

const detail: Detail = { observedGeneration: 1, phase: 'Pending', nodes: [] };
const heard: Detail = { ...detail, nodes: [{ pod: 'demo-0', ready: true }] };
const NOW = 1_000_000;

describe('the pace of a detail', () => {
  test('holds back what is news of a node, or of slots on their way, for the rest of two seconds', () => {
    const pace = createDetailPace();
    expect(pace.holdMs('a', detail, heard, false, NOW)).toBe(0);
    expect(pace.holdMs('a', detail, heard, false, NOW + 500)).toBe(1500);
    const moving = { ...heard, migrations: [{ from: 'a', to: 'b', slots: ['1'] }] };
    expect(pace.holdMs('a', detail, moving, false, NOW + 500)).toBe(1500);
    expect(pace.holdMs('a', detail, heard, false, NOW + 2000)).toBe(0);
  });

  test('does not hold back what the next plan starts from', () => {
    const pace = createDetailPace();
    pace.holdMs('a', detail, heard, false, NOW);
    expect(pace.holdMs('a', detail, { ...heard, phase: 'Running' }, false, NOW + 1)).toBe(0);
    expect(pace.holdMs('a', undefined, heard, false, NOW + 2)).toBe(0);
  });

  test('does not hold back the last word on a cluster that has come to rest', () => {
    const pace = createDetailPace();
    pace.holdMs('a', detail, heard, false, NOW);
    expect(pace.holdMs('a', detail, heard, true, NOW + 1)).toBe(0);
  });

  test('is that of one cluster, and is forgotten with it', () => {
    const pace = createDetailPace();
    pace.holdMs('a', detail, heard, false, NOW);
    expect(pace.holdMs('b', detail, heard, false, NOW)).toBe(0);
    pace.forget('a');
    expect(pace.holdMs('a', detail, heard, false, NOW)).toBe(0);
  });
});

describe('the pace of a summary', () => {
  const tell = (message: string, change: { type?: string; reason?: string; step?: number } = {}): Status => ({
    orchestration: {
      id: 'scaleout-1',
      kind: 'ScaleOut',
      step: change.step ?? 1,
      stepsTotal: 3,
      startedAt: '2026-11-16T06:00:00Z',
      attempts: 1,
      message,
    },
    conditions: [
      {
        type: change.type ?? 'Progressing',
        status: 'True',
        reason: change.reason ?? 'SlotsMoving',
        message,
        lastTransitionTime: '2026-11-16T06:00:00Z',
      },
    ],
  });

  test.each([
    ['holds back the words of what goes on', 700, {}],
    ['does not hold back another reason', 0, { reason: 'MoveFailed' }],
    ['does not hold back another step', 0, { step: 2 }],
    ['does not hold back what was found to be changed, which the next plan reads', 0, { type: 'DriftDetected' }],
  ])('%s', (_what, held, change) => {
    const pace = createSummaryPace();
    const before = tell('4000 slots are left');
    pace.holdMs('a', before, before, false, NOW);
    expect(pace.holdMs('a', before, tell('3000 slots are left', change), false, NOW + 300)).toBe(held);
  });
});
