import { builtInDefaults } from '@valkey-operator/api';
import { describe, expect, it } from 'vitest';
import { settingsInEffect } from '../builders/settings.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { bear, condition, settle } from '../testing/settle.ts';

const ranges = ['192.0.2.0/24'];
const external = (type: 'NodePort' | 'LoadBalancer') => ({
  ...builtInDefaults.services,
  external: { enabled: true, type, ...(type === 'LoadBalancer' && { loadBalancerSourceRanges: ranges }) },
});
const image = (tag: string) => ({ name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' }) as const;

/** Each node announces the address of its load balancer. */
function announcing(tag = '9.1'): SimulatedCluster {
  const cluster = bear({ spec: { valkeyImage: image(tag), services: external('LoadBalancer') } });
  cluster.kubernetesNodes = cluster.kubernetesNodes.map((node, index) => ({ ...node, address: `198.51.100.${index}` }));
  for (const { ordinal } of cluster.pods) {
    const service = findService(cluster, ordinal)!;
    const ports = [{ name: 'valkey', port: 6379, targetPort: 6379, protocol: 'TCP', nodePort: 30_000 + ordinal }];
    const status = { loadBalancer: { ingress: [{ ip: `203.0.113.${ordinal}` }] } };
    cluster.children.set(`Service/demo-${ordinal}-external`, { ...service, spec: { ...service.spec, ports }, status });
  }
  settle(cluster);
  return cluster;
}

function findService({ children }: SimulatedCluster, ordinal: number) {
  const found = children.get(`Service/demo-${ordinal}-external`);
  return found && { ...found, spec: found['spec'] as { type: string; loadBalancerSourceRanges?: string[] } };
}

/** By pod, as far as there are any: what it announces, and what its Service is. */
function listDoors(cluster: SimulatedCluster) {
  return cluster.pods.map(({ name, ordinal }) => {
    const { type, loadBalancerSourceRanges } = findService(cluster, ordinal)?.spec ?? {};
    const ip = settingsInEffect(cluster.snapshot())?.nodes?.[name]?.['cluster-announce-client-ipv4'];
    return { ip, type, loadBalancerSourceRanges };
  });
}

const balanced = [0, 1, 2, 3, 4, 5].map((ordinal) => ({
  ip: `203.0.113.${ordinal}`,
  type: 'LoadBalancer',
  loadBalancerSourceRanges: ranges,
}));

describe('the Service of a pod for clients outside', () => {
  it('stays as long as clients are sent there, because other settings are refused', () => {
    const cluster = announcing();
    cluster.change({ services: builtInDefaults.services, config: { 'max-memory': '1gb' } });
    expect(condition(settle(cluster), 'Progressing')).toMatchObject({ reason: 'ConfigRejected' });
    expect(listDoors(cluster)).toEqual(balanced);
    cluster.change({ config: {} });
    settle(cluster);
    expect(listDoors(cluster).every(({ ip, type }) => ip === undefined && type === undefined)).toBe(true);
  });

  it('stays a load balancer where another kind is refused', () => {
    const cluster = announcing('8.1');
    cluster.change({ services: external('NodePort') });
    expect(condition(settle(cluster), 'Progressing')).toMatchObject({ reason: 'ConfigRejected' });
    expect(listDoors(cluster)).toEqual(balanced);
  });

  it('becomes another kind when nobody is sent to its load balancer any more', () => {
    const cluster = announcing();
    cluster.change({ services: external('NodePort') });
    const isOpen = ({ ip, type }: ReturnType<typeof listDoors>[number]) =>
      type === 'LoadBalancer' || !ip?.startsWith('203.0.113.');
    for (let second = 0; second < 10; second += 1) {
      cluster.reconcile();
      expect(listDoors(cluster).every(isOpen)).toBe(true);
      cluster.tick();
    }
    expect(listDoors(cluster).map(({ type }) => type)).toEqual(balanced.map(() => 'NodePort'));
  });
});
