import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { builtInDefaults } from './built-in-defaults.ts';
import { resolveEffectiveSpec } from './effective-spec.ts';
import { valkeyClusterDefaults, type ClusterDefaults } from './kinds/valkey-cluster-defaults.ts';
import type { ValkeyClusterSpec } from './kinds/valkey-cluster.ts';
import { validate } from './validate/validate.ts';

const bound = { management: 'Bound' } as const;
const resolve = (operator: ClusterDefaults, namespace: ClusterDefaults, spec: Partial<ValkeyClusterSpec> = {}) =>
  resolveEffectiveSpec(builtInDefaults, operator, namespace, { ...bound, ...spec });

test('the built-in defaults are a valid ValkeyClusterDefaults', () => {
  const object = {
    apiVersion: 'valkey.io/v1alpha1',
    kind: 'ValkeyClusterDefaults',
    metadata: { name: 'valkey-operator-defaults' },
    spec: builtInDefaults,
  };
  expect(validate(valkeyClusterDefaults, object)).toEqual([]);
});

describe('resolveEffectiveSpec', () => {
  test('an empty spec gets what is built in', () => {
    expect(resolve({}, {})).toEqual({ ...builtInDefaults, ...bound });
  });

  test('the cluster wins over its namespace, and that over the namespace of the operator', () => {
    const operator = { masterCount: 4, replicasPerMaster: 2, priorityClassName: 'low' };
    const namespace = { masterCount: 5, replicasPerMaster: 3 };
    expect(resolve(operator, namespace, { masterCount: 6 })).toMatchObject({
      masterCount: 6,
      replicasPerMaster: 3,
      priorityClassName: 'low',
    });
  });

  test('objects merge field by field', () => {
    const { valkeyImage, config } = resolve(
      { valkeyImage: { name: 'mirror.example.com/valkey' }, config: { hz: '20' } },
      {},
      { valkeyImage: { tag: '8.1' }, config: { 'maxmemory-policy': 'allkeys-lru' } },
    );
    expect(valkeyImage).toEqual({ name: 'mirror.example.com/valkey', tag: '8.1', pullPolicy: 'IfNotPresent' });
    expect(config).toEqual({ hz: '20', 'maxmemory-policy': 'allkeys-lru' });
  });

  test('resources are taken as a whole, so that a request never meets the limit of another source', () => {
    const { resources } = resolve({}, {}, { resources: { requests: { memory: '2Gi' } } });
    expect(resources).toEqual({ requests: { memory: '2Gi' } });
  });

  test('an empty list overrides a default list', () => {
    const window = { cron: '0 4 * * *', duration: '1h' };
    expect(resolve({ maintenanceWindows: [window] }, {}, { maintenanceWindows: [] }).maintenanceWindows).toEqual([]);
  });

  const layer = fc.record(
    {
      masterCount: fc.integer({ min: 3, max: 9 }),
      replication: fc.record({ disklessSync: fc.boolean(), minReplicasMaxLag: fc.nat() }, { requiredKeys: [] }),
      config: fc.dictionary(fc.constantFrom('hz', 'timeout', 'maxclients'), fc.string()),
      resources: fc.record({ limits: fc.dictionary(fc.constantFrom('cpu', 'memory'), fc.nat()) }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  );

  test('everything that the cluster states is in effect, and resolving again changes nothing', () => {
    fc.assert(
      fc.property(layer, layer, layer, (operator, namespace, spec) => {
        const effective = resolve(operator, namespace, spec);
        expect(effective).toMatchObject(spec);
        expect(resolve(operator, namespace, effective)).toEqual(effective);
      }),
    );
  });

  test('the inputs are not changed', () => {
    fc.assert(
      fc.property(layer, layer, (operator, namespace) => {
        const before = structuredClone({ operator, namespace, builtInDefaults });
        resolve(operator, namespace);
        expect({ operator, namespace, builtInDefaults }).toEqual(before);
      }),
    );
  });
});
