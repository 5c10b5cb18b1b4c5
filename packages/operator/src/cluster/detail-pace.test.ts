import type { ValkeyClusterStatus } from '@valkey-operator/api';
import { describe, expect, test } from 'vitest';
import { DetailPace } from './detail-pace.ts';

type Detail = NonNullable<ValkeyClusterStatus['status']>;

const detail: Detail = { observedGeneration: 1, phase: 'Pending', nodes: [] };
const heard: Detail = { ...detail, nodes: [{ pod: 'demo-0', ready: true }] };
const NOW = 1_000_000;

describe('the pace of a detail', () => {
  test('holds back what is news of a node for the rest of two seconds', () => {
    const pace = new DetailPace();
    expect(pace.holdMs('a', detail, heard, false, NOW)).toBe(0);
    expect(pace.holdMs('a', detail, heard, false, NOW + 500)).toBe(1500);
    expect(pace.holdMs('a', detail, heard, false, NOW + 2000)).toBe(0);
  });

  test('does not hold back what the next plan starts from', () => {
    const pace = new DetailPace();
    pace.holdMs('a', detail, heard, false, NOW);
    expect(pace.holdMs('a', detail, { ...heard, phase: 'Running' }, false, NOW + 1)).toBe(0);
    expect(pace.holdMs('a', undefined, heard, false, NOW + 2)).toBe(0);
  });

  test('does not hold back the last word on a cluster that has come to rest', () => {
    const pace = new DetailPace();
    pace.holdMs('a', detail, heard, false, NOW);
    expect(pace.holdMs('a', detail, heard, true, NOW + 1)).toBe(0);
  });

  test('is that of one cluster, and is forgotten with it', () => {
    const pace = new DetailPace();
    pace.holdMs('a', detail, heard, false, NOW);
    expect(pace.holdMs('b', detail, heard, false, NOW)).toBe(0);
    pace.forget('a');
    expect(pace.holdMs('a', detail, heard, false, NOW)).toBe(0);
  });
});
