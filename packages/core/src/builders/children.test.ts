import { annotations, builtInDefaults, type EffectiveClusterSpec, labels } from '@valkey-operator/api';
import { describe, expect, it } from 'vitest';
import { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import golden from '../testdata/pod-template-minimal.json' with { type: 'json' };
import { buildChildren } from './children.ts';
import { buildPodTemplate } from './pod-template.ts';
import { buildSettings } from './settings.ts';

const { cluster, operator } = new SimulatedCluster().snapshot();
const minimal: EffectiveClusterSpec = { ...builtInDefaults, management: 'Bound' };

describe('what an upgrade of the operator alone must not change', () => {
  it('is the hash of the configuration', () => {
    expect(buildSettings(minimal).hash).toBe('74a9294195b2f94e');
  });

  it('is the pod template of the minimal sample', () => {
    expect(buildPodTemplate(cluster, minimal, operator)).toEqual(golden);
  });
});

describe('the settings of a node', () => {
  it('leave a quarter of the memory limit to what is not data', () => {
    expect(buildSettings(minimal).settings['maxmemory']).toBe(String(384 * 1024 * 1024));
  });

  it('are overruled by spec.config, whatever its case', () => {
    const { settings } = buildSettings({
      ...minimal,
      config: { MaxMemory: '100mb', 'maxmemory-policy': 'allkeys-lru' },
    });
    expect(settings).toMatchObject({ maxmemory: '100mb', 'maxmemory-policy': 'allkeys-lru' });
  });

  it('have another hash when any of them differs, and the same in another order', () => {
    const hash = (config: Record<string, string>) => buildSettings({ ...minimal, config }).hash;
    expect(hash({ a: '1', b: '2' })).toBe(hash({ b: '2', a: '1' }));
    expect(hash({ a: '1' })).not.toBe(hash({ a: '2' }));
  });
});

describe('every child', () => {
  const spec = { ...minimal, labels: { team: 'shop' }, annotations: { note: 'x' } };

  it('carries its owner, the labels of selectors and those of the effective spec (D1)', () => {
    for (const { metadata } of buildChildren({ cluster, spec, operator })) {
      expect(metadata.labels).toMatchObject({ team: 'shop', [labels.cr]: 'demo' });
      expect(metadata.annotations).toMatchObject({ note: 'x', [annotations.cr]: 'demo', [annotations.locked]: 'true' });
      expect(metadata.ownerReferences).toMatchObject([{ uid: 'cluster-uid', controller: true }]);
    }
  });

  it('has a name of its own among its kind', () => {
    const names = buildChildren({ cluster, spec, operator }).map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it('keeps its data on a volume when the spec asks for one, and else in the pod', () => {
    const volumes = (pvc: EffectiveClusterSpec['pvc']) =>
      buildPodTemplate(cluster, { ...minimal, ...(pvc && { pvc }) }, operator).spec.volumes.map(({ name }) => name);
    expect(volumes(undefined)).toContain('data');
    expect(volumes({ storageSize: '1Gi' })).not.toContain('data');
  });
});
