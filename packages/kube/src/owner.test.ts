import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatKey, parseKey } from './object.ts';
import { isControlledBy, ownerReferenceTo } from './owner.ts';

const owner = {
  apiVersion: 'valkey.io/v1alpha1',
  kind: 'ValkeyCluster',
  metadata: { name: 'carts', namespace: 'shop', uid: 'u1', resourceVersion: '1' },
};

describe('ownership', () => {
  test('goes by uid, so that a namesake of the owner is not the owner', () => {
    const child = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', ownerReferences: [ownerReferenceTo(owner)] },
    };
    expect(isControlledBy(child, owner)).toBe(true);
    expect(isControlledBy(child, { ...owner, metadata: { ...owner.metadata, uid: 'u2' } })).toBe(false);
  });
});

test('a key and what it names are the same thing', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9.-]*$/);
  fc.assert(
    fc.property(fc.record({ name, namespace: name }, { requiredKeys: ['name'] }), (ref) => {
      expect(parseKey(formatKey(ref))).toEqual(ref);
    }),
  );
});
