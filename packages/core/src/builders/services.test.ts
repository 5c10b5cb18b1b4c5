import { builtInDefaults, type EffectiveClusterSpec } from '@valkey-operator/api';
import { describe, expect, it } from 'vitest';
import { announcedSettings } from '../announced.ts';
import { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { bear, condition, settle } from '../testing/settle.ts';
import { buildServices } from './services.ts';
import { settingsInEffect } from './settings.ts';

type Services = EffectiveClusterSpec['services'];
const { cluster, operator } = new SimulatedCluster().snapshot();
const build = (services: Partial<Services>) => {
  const spec = {
    ...builtInDefaults,
    management: 'Bound',
    services: { ...builtInDefaults.services, ...services },
  } as const;
  return buildServices({ cluster, spec, operator });
};
const external = (type: 'NodePort' | 'LoadBalancer'): Services => ({
  ...builtInDefaults.services,
  external: { enabled: true, type },
});

describe('services', () => {
  it('are a headless one and one for clients, unless more is asked for', () => {
    expect(build({}).map(({ metadata }) => metadata.name)).toEqual(['demo-headless', 'demo']);
  });

  it('for reading lead to replicas', () => {
    expect(build({ read: { enabled: true } }).at(-1)).toMatchObject({
      metadata: { name: 'demo-read' },
      spec: { selector: { 'valkey.io/cr': 'demo', 'valkey.io/role': 'replica' } },
    });
  });

  it('for clients outside lead to one pod each, be it ready or not', () => {
    const made = build({ external: { enabled: true, type: 'NodePort', firstNodePort: 30_100 } }).slice(2);
    expect(made).toHaveLength(6);
    expect(made[4]).toMatchObject({
      metadata: { name: 'demo-4-external' },
      spec: {
        type: 'NodePort',
        publishNotReadyAddresses: true,
        selector: { 'statefulset.kubernetes.io/pod-name': 'demo-4' },
        ports: [{ port: 6379, nodePort: 30_104 }],
      },
    });
  });

  it('that are asked for no more are removed', () => {
    const living = bear({ spec: { services: external('LoadBalancer') } });
    expect([...living.children.keys()]).toContain('Service/demo-5-external');
    living.change({ services: builtInDefaults.services });
    settle(living);
    expect([...living.children.keys()].filter((key) => key.includes('external'))).toEqual([]);
  });
});

describe('the address that a node announces', () => {
  const giveAddress = (living: SimulatedCluster, ordinal: number) => {
    const key = `Service/demo-${ordinal}-external`;
    const status = { loadBalancer: { ingress: [{ ip: `203.0.113.${ordinal}` }] } };
    living.children.set(key, { ...living.children.get(key)!, status });
  };

  it('is that of its load balancer, as soon as there is one, and set without a restart', () => {
    const living = bear({ spec: { services: external('LoadBalancer') } });
    expect(settingsInEffect(living.snapshot())?.nodes).toBeUndefined();
    giveAddress(living, 2);
    settle(living);
    expect(living.pod(2).settings.settings).toMatchObject({ 'cluster-announce-client-ipv4': '203.0.113.2' });
    expect(living.pod(1).settings.settings).not.toHaveProperty('cluster-announce-client-ipv4');
    expect(settingsInEffect(living.snapshot())?.nodes).toEqual({
      'demo-2': { 'cluster-announce-client-ipv4': '203.0.113.2' },
    });
  });

  it('is that of the node of Kubernetes, and the port there', () => {
    const living = bear({ spec: { services: external('NodePort') } });
    const snapshot = living.snapshot();
    const children = snapshot.children.map((child) =>
      child.metadata.name === 'demo-0-external' ? { ...child, spec: { ports: [{ nodePort: 30_007 }] } } : child,
    );
    const kubernetesNodes = [{ name: snapshot.pods[0]!.kubernetesNode!, ready: true, address: '192.0.2.1' }];
    expect(announcedSettings({ ...snapshot, children, kubernetesNodes })).toEqual({
      'demo-0': { 'cluster-announce-client-ipv4': '192.0.2.1', 'cluster-announce-client-port': '30007' },
    });
  });

  it('is known to all before a new shard gets slots', () => {
    const living = bear({ spec: { services: external('LoadBalancer') } });
    for (const ordinal of [0, 1, 2, 3, 4, 5]) giveAddress(living, ordinal);
    settle(living);
    living.change({ masterCount: 4 });
    expect(condition(settle(living), 'Progressing').message).toMatch(/^demo-6.* waits for the address of its Service/);
    expect(living.pod(6).node?.slots.isEmpty).toBe(true);
    for (const ordinal of [6, 7]) giveAddress(living, ordinal);
    expect(condition(settle(living), 'Ready')).toMatchObject({ status: 'True' });
    expect(living.snapshot().pods.filter(({ report }) => report?.cluster?.slots !== '')).toHaveLength(4);
  });

  it('is none while its load balancer gives only a host name: that is told with what to do, and holds up nothing', () => {
    const living = bear({ spec: { services: external('LoadBalancer') } });
    const give = (ordinal: number, ...ingress: object[]) => {
      const key = `Service/demo-${ordinal}-external`;
      living.children.set(key, { ...living.children.get(key)!, status: { loadBalancer: { ingress } } });
    };
    give(1, { hostname: 'one.lb.example' });
    give(4, { hostname: 'four.lb.example' });
    give(5, { hostname: 'five.lb.example' }, { ip: '203.0.113.5' });
    const message =
      'spec.services.external is LoadBalancer, but the load balancer of Service demo-1-external gives only a host name (one.lb.example), and nodes can tell clients only addresses: those of pods, as long as there is no other. Have it give an address (spec.services.external.annotations), use NodePort (Valkey 9.1), or turn spec.services.external off. The same with demo-4-external.';
    living.change({ config: { hz: '20' } });
    const first = living.reconcile();
    expect(condition(first, 'Degraded')).toEqual({ status: 'True', reason: 'InvalidSpec', message });
    expect(first.events).toContainEqual({ reason: 'InvalidSpec', message });
    const plan = settle(living);
    expect(condition(plan, 'Progressing')).toEqual({ status: 'False', reason: 'InvalidSpec', message });
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'True' });
    expect(living.pod(1).settings.settings['hz']).toBe('20');
    expect(Object.keys(settingsInEffect(living.snapshot())?.nodes ?? {})).toEqual(['demo-5']);
    living.change({ services: builtInDefaults.services });
    expect(condition(settle(living), 'Degraded')).toMatchObject({ status: 'False' });
  });

  it('goes when external access is turned off', () => {
    const living = bear({ spec: { services: external('LoadBalancer') } });
    giveAddress(living, 2);
    settle(living);
    living.change({ services: builtInDefaults.services });
    expect(condition(settle(living), 'Ready')).toMatchObject({ status: 'True' });
    expect(settingsInEffect(living.snapshot())?.nodes).toBeUndefined();
  });
});
