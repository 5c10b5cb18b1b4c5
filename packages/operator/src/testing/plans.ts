import type { ClusterSnapshot, Plan } from '@valkey-operator/core';
import { aCluster, effectiveSpec } from './builders.ts';

export const operator = { version: 'test', namespace: 'ops', trustDomain: 'valkey.test' };

/** A cluster of which nothing is there yet. */
export function aSnapshot(overrides: Partial<ClusterSnapshot> = {}): ClusterSnapshot {
  return {
    now: 0,
    cluster: aCluster(),
    spec: effectiveSpec,
    operator,
    children: [],
    pods: [],
    claims: [],
    kubernetesNodes: [],
    certificates: {},
    ...overrides,
  };
}

export function aPlan(stages: Plan['stages'] = [], overrides: Partial<Plan> = {}): Plan {
  return { stages, status: {}, detail: {}, events: [], stayConnected: false, ...overrides };
}
