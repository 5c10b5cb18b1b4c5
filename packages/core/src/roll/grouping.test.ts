import { builtInDefaults, type EffectiveClusterSpec } from '@valkey-operator/api';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../actions.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { checkPlan } from '../testing/check-plan.ts';
import { bear } from '../testing/settle.ts';
import { viewOf } from '../testing/view.ts';

const image = (tag: string) => ({ name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' }) as const;
const valkey = { valkeyImage: image('9.1') };
const sidecar = { sidecarImage: { name: 'example.com/sidecar', tag: '2', pullPolicy: 'IfNotPresent' } } as const;
const place = { nodeSelector: { disk: 'fast' } };
const resources = { resources: { requests: { memory: '2Gi' }, limits: { memory: '2Gi' } } };
const exporter = { exporter: { ...builtInDefaults.exporter, enabled: true } };
const atStart = { config: { 'tcp-backlog': '777' } };

/** All pods that are taken away, in order, and what is said of the first. */
function roll(cluster: SimulatedCluster): { deleted: string[]; resized: number; told: string } {
  const plans: Plan[] = [];
  for (let second = 0; second < 150; second += 1) {
    plans.push(cluster.reconcile(checkPlan(cluster)));
    cluster.tick();
  }
  const actions = plans.flatMap(({ stages }) => stages.flat());
  const events = plans.flatMap((plan) => plan.events).filter(({ reason }) => reason === 'PodReplaced');
  return {
    deleted: actions.flatMap((action) => (action.type === 'DeletePod' ? [action.pod] : [])),
    resized: actions.filter(({ type }) => type === 'ResizePod').length,
    told: events[0]?.message ?? '',
  };
}

const WHERE = 'where it may run';
const changes: readonly (readonly [string, Partial<EffectiveClusterSpec>, readonly string[]])[] = [
  ['the sidecar', sidecar, ['to example.com/sidecar:2']],
  ['the place', place, [WHERE]],
  ['the place and what is tolerated there', { ...place, tolerations: [{ key: 'gpu', operator: 'Exists' }] }, [WHERE]],
  ['place and resources', { ...place, ...resources }, ['its resources', WHERE]],
  [
    'image, sidecar, place and resources',
    { ...valkey, ...sidecar, ...place, ...resources },
    ['8.1 to docker.io/valkey/valkey:9.1', 'to example.com/sidecar:2', 'its resources', WHERE],
  ],
  ['the exporter', exporter, ['with the exporter docker.io/oliver006/redis_exporter:v1.69.0']],
  [
    'sidecar, resources, place and exporter',
    { ...sidecar, ...resources, ...place, ...exporter },
    ['to example.com/sidecar:2', 'its resources', WHERE, 'with the exporter'],
  ],
  ['image, place and a setting for the start', { ...valkey, ...place, ...atStart }, ['valkey:9.1', WHERE]],
];

describe('a change of', () => {
  it.each(changes)('%s replaces each pod once', (_what, change, words) => {
    const cluster = bear({ spec: { valkeyImage: image('8.1') } });
    const names = cluster.pods.map(({ name }) => name);
    cluster.change(change);
    const { deleted, resized, told } = roll(cluster);
    expect(deleted.toSorted((a, b) => a.localeCompare(b))).toEqual(names);
    expect(resized).toBe(0);
    for (const word of words) expect(told).toContain(word);
    expect(viewOf(cluster).roll.outdated).toEqual([]);
    const backlogs = cluster.pods.map(({ startedWith }) => startedWith['tcp-backlog']);
    expect(backlogs).toEqual(names.map(() => change.config?.['tcp-backlog']));
  });
});
