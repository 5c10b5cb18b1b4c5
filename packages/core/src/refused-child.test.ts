import { builtInDefaults } from '@valkey-operator/api';
import { SLOT_COUNT } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import type { ChildObject } from './snapshot.ts';
import { SimulatedCluster } from './simulation/simulated-cluster.ts';
import { bear, condition, countKeptSlots, settle } from './testing/settle.ts';

const WORDS = 'provided port is not in the valid range. The range of valid ports is 30000-32767';
const refusePorts = ({ metadata }: ChildObject) => (metadata.name.endsWith('-external') ? WORDS : undefined);
const external = { enabled: true, type: 'NodePort', firstNodePort: 2000 } as const;
const services = { ...builtInDefaults.services, external };
const told = {
  reason: 'ChildRefused',
  message: `The API server refuses Service demo-0-external: ${WORDS}. Refused as well: Service demo-1-external, Service demo-2-external, Service demo-3-external, Service demo-4-external, Service demo-5-external.`,
};

/** At rest, with Services that the API server does not take. */
function refused(): SimulatedCluster {
  const cluster = bear();
  cluster.refusals.judge = refusePorts;
  cluster.change({ services });
  settle(cluster);
  return cluster;
}

describe('a child that the API server refuses', () => {
  it('is told in its words, by conditions and by an event, and the rest is as it was', () => {
    const cluster = refused();
    const plan = cluster.reconcile();
    expect(condition(plan, 'Degraded')).toEqual({ status: 'True', ...told });
    expect(condition(plan, 'Progressing')).toEqual({ status: 'False', ...told });
    expect(condition(plan, 'Ready').status).toBe('True');
    expect(plan.events).toContainEqual(told);
  });

  it('does not keep a cluster from being born, nor its pods from their labels', () => {
    const cluster = new SimulatedCluster({ spec: { services } });
    cluster.refusals.judge = refusePorts;
    expect(condition(settle(cluster), 'Ready').status).toBe('True');
    expect(cluster.pods.filter(({ labels }) => labels['valkey.io/role'] === 'replica')).toHaveLength(3);
  });

  it('holds up neither repairs nor changes', () => {
    const cluster = refused();
    cluster.losePod(0, { volume: true });
    cluster.change({ masterCount: 4, config: { 'maxmemory-policy': 'allkeys-lru' } });
    expect(condition(settle(cluster, 400), 'Ready').status).toBe('True');
    expect(cluster.primaries).toHaveLength(4);
    expect(cluster.pods.every(({ settings }) => settings.settings['maxmemory-policy'] === 'allkeys-lru')).toBe(true);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });

  it('is tried again after half a minute, last of all, and at once when it is wished otherwise', () => {
    const cluster = refused();
    const tries = () => {
      const { stages } = cluster.reconcile();
      return stages.map((stage) => stage.length);
    };
    expect(tries()).toEqual([]);
    cluster.now += 30_000;
    expect(tries()).toEqual([6]);
    expect(tries()).toEqual([]);
    cluster.refusals.judge = () => undefined;
    cluster.change({ services: { ...services, external: { ...external, firstNodePort: 30_000 } } });
    const plan = settle(cluster);
    expect(condition(plan, 'Degraded')).toMatchObject({ status: 'False' });
    expect(cluster.children.get('Service/demo-0-external')).toBeDefined();
  });

  it('is forgotten when nobody asks for it any more', () => {
    const cluster = refused();
    cluster.change({ services: builtInDefaults.services });
    expect(condition(settle(cluster), 'Degraded')).toMatchObject({ status: 'False' });
  });
});
