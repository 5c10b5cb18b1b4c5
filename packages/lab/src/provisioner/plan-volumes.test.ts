import type { Live, PersistentVolume, PersistentVolumeClaim } from '@valkey-operator/kube';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planVolumes, type VolumeClass } from './plan-volumes.ts';

const CLASS: VolumeClass = {
  storageClass: 'lab',
  provisioner: 'valkey-lab/host-path',
  path: (node, volume) => `/lab/${node}/${volume}`,
};

interface ClaimShape {
  uid?: string;
  node?: string | undefined;
  wanted?: string;
  has?: string | undefined;
  phase?: string;
  storageClass?: string;
  deleting?: boolean;
}

function claim(shape: ClaimShape = {}): Live<PersistentVolumeClaim> {
  const { uid = 'u1', wanted = '1Gi', has, phase = has ? 'Bound' : 'Pending', storageClass = 'lab', deleting } = shape;
  const node = 'node' in shape ? shape.node : 'node1';
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: `data-${uid}`,
      namespace: 'default',
      uid,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(node && { annotations: { 'volume.kubernetes.io/selected-node': node } }),
      ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: {
      storageClassName: storageClass,
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: wanted } },
    },
    status: { phase, ...(has && { capacity: { storage: has } }) },
  };
}

/** The volume that the provisioner makes for a claim, as the API server would hold it. */
function volumeFor(owner: Live<PersistentVolumeClaim>, phase = 'Bound', changes: object = {}): Live<PersistentVolume> {
  const [action] = planVolumes([owner], [], CLASS);
  if (action?.do !== 'create') throw new Error('the claim asks for no volume');
  return { ...action.volume, status: { phase }, ...changes } as Live<PersistentVolume>;
}

describe('the volumes of a lab', () => {
  test('a claim whose pod has a node gets a local volume on that node, bound to it alone', () => {
    expect(planVolumes([claim({ node: 'node2' })], [], CLASS)).toEqual([
      {
        do: 'create',
        node: 'node2',
        volume: {
          apiVersion: 'v1',
          kind: 'PersistentVolume',
          metadata: { name: 'pvc-u1', annotations: { 'pv.kubernetes.io/provisioned-by': 'valkey-lab/host-path' } },
          spec: {
            capacity: { storage: '1Gi' },
            accessModes: ['ReadWriteOnce'],
            persistentVolumeReclaimPolicy: 'Delete',
            storageClassName: 'lab',
            claimRef: {
              apiVersion: 'v1',
              kind: 'PersistentVolumeClaim',
              name: 'data-u1',
              namespace: 'default',
              uid: 'u1',
            },
            local: { path: '/lab/node2/pvc-u1' },
            nodeAffinity: {
              required: {
                nodeSelectorTerms: [
                  { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node2'] }] },
                ],
              },
            },
          },
        },
      },
    ]);
  });

  test.each([
    ['whose pod has no node yet', claim({ node: undefined })],
    ['of another storage class', claim({ storageClass: 'fast' })],
    ['that is being deleted', claim({ deleting: true })],
  ])('a claim %s gets none', (_which, waiting) => {
    expect(planVolumes([waiting], [], CLASS)).toEqual([]);
  });

  test('a claim that has what it asks for is left alone', () => {
    const served = claim({ has: '1Gi' });
    expect(planVolumes([served], [volumeFor(served)], CLASS)).toEqual([]);
  });

  test('a claim that asks for more makes its volume grow', () => {
    const before = claim({ has: '1Gi' });
    const after = claim({ wanted: '2Gi', has: '1Gi' });
    const grow = { do: 'grow', volume: 'pvc-u1', claim: { namespace: 'default', name: 'data-u1' }, storage: '2Gi' };
    expect(planVolumes([after], [volumeFor(before)], CLASS)).toEqual([grow]);
  });

  test('growing goes on when only the volume was told before a crash', () => {
    const halfTold = claim({ wanted: '2Gi', has: '1Gi' });
    expect(planVolumes([halfTold], [volumeFor(halfTold)], CLASS)).toMatchObject([{ do: 'grow', storage: '2Gi' }]);
  });

  test('a claim that is not bound yet is not grown', () => {
    const pending = claim({ wanted: '2Gi' });
    expect(planVolumes([pending], [volumeFor(claim())], CLASS)).toEqual([]);
  });

  test('a volume whose claim is gone is removed from its node', () => {
    const released = volumeFor(claim({ node: 'node3' }), 'Released');
    expect(planVolumes([], [released], CLASS)).toEqual([{ do: 'remove', volume: 'pvc-u1', node: 'node3' }]);
  });

  test('a released volume that is to be retained, or that somebody else made, stays', () => {
    const released = volumeFor(claim(), 'Released');
    const retained = { ...released, spec: { ...released.spec, persistentVolumeReclaimPolicy: 'Retain' } };
    const foreign = { ...released, metadata: { ...released.metadata, annotations: {} } };
    expect(planVolumes([], [retained as Live<PersistentVolume>, foreign], CLASS)).toEqual([]);
  });

  test('doing what was planned leaves nothing to do', () => {
    const shapes = fc.uniqueArray(
      fc.record({
        uid: fc.uuid(),
        node: fc.option(fc.constantFrom('node1', 'node2'), { nil: undefined }),
        wanted: fc.constantFrom('1Gi', '2Gi'),
      }),
      { selector: ({ uid }) => uid, maxLength: 8 },
    );
    fc.assert(
      fc.property(shapes, (claims) => {
        const made = planVolumes(claims.map(claim), [], CLASS);
        const volumes = made.map((action) => {
          if (action.do !== 'create') throw new Error('there is nothing to grow or remove');
          return { ...action.volume, status: { phase: 'Bound' } } as Live<PersistentVolume>;
        });
        const bound = claims.map((shape) => claim({ ...shape, has: shape.node && shape.wanted }));
        expect(made).toHaveLength(claims.filter(({ node }) => node).length);
        expect(planVolumes(bound, volumes, CLASS)).toEqual([]);
      }),
    );
  });
});
