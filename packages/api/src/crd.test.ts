import { describe, expect, test } from 'vitest';
import { buildCrd, isForeignCrd } from './crd.ts';
import type { Kind } from './define-kind.ts';
import { allKinds, installedKinds } from './kinds/all-kinds.ts';
import { valkeyClusterDefaults } from './kinds/valkey-cluster-defaults.ts';
import { valkeyCluster } from './kinds/valkey-cluster.ts';
import type { StructuralSchema } from './schema/structural.ts';

const schemaOf = (kind: Kind): StructuralSchema => buildCrd(kind).spec.versions[0]!.schema.openAPIV3Schema;

interface Node {
  readonly path: string;
  readonly schema: StructuralSchema;
}

function nodesOf(schema: StructuralSchema, path: string): Node[] {
  const { properties = {}, additionalProperties, items } = schema;
  return [
    { path, schema },
    ...Object.entries(properties).flatMap(([key, child]) => nodesOf(child, `${path}.${key}`)),
    ...(additionalProperties ? nodesOf(additionalProperties, `${path}.*`) : []),
    ...(items ? nodesOf(items, `${path}[]`) : []),
  ];
}

const bodyOf = (kind: Kind): Node[] => {
  const { spec, status } = schemaOf(kind).properties!;
  return [...nodesOf(spec!, 'spec'), ...nodesOf(status!, 'status')];
};

const pathsWhere = (nodes: readonly Node[], matches: (schema: StructuralSchema) => boolean): string[] =>
  nodes.filter(({ schema }) => matches(schema)).map(({ path }) => path);

describe.each(allKinds.map((kind) => [kind.kind, kind] as const))('the CRD of %s', (_, kind) => {
  test('describes every field in sentences', () => {
    expect(pathsWhere(bodyOf(kind), ({ description = '' }) => !/^[A-Za-z].*\.$/s.test(description))).toEqual([]);
  });

  test('bounds everything that the API server prices', () => {
    const unbounded = ({ type, maxLength, maxItems, maxProperties, ...schema }: StructuralSchema) =>
      (type === 'string' && maxLength === undefined && !schema.enum && !schema.format) ||
      (type === 'array' && maxItems === undefined) ||
      (schema.additionalProperties !== undefined && maxProperties === undefined);
    expect(pathsWhere(bodyOf(kind), unbounded)).toEqual([]);
  });

  test('says "must" and ends without a full stop in every message', () => {
    const messages = nodesOf(schemaOf(kind), '').flatMap(({ schema }) => schema['x-kubernetes-validations'] ?? []);
    expect(messages.map(({ message }) => message).filter((text) => !/\bmust\b.*[^.]$/.test(text))).toEqual([]);
  });

  test('has conditions keyed by type, observedGeneration, and an age column', () => {
    const { status } = schemaOf(kind).properties!;
    expect(status!.properties).toMatchObject({
      conditions: { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
      observedGeneration: { type: 'integer' },
    });
    expect(kind.columns.map((column) => column.name)).toContain('Age');
  });

  test('takes every column from a field that exists', () => {
    const fields = new Set(bodyOf(kind).map(({ path }) => `.${path}`));
    const sources = kind.columns.map(({ jsonPath }) => jsonPath.replace(/\[[^\]]*\]/g, '[]'));
    expect(sources.filter((path) => !path.startsWith('.metadata.') && !fields.has(path))).toEqual([]);
  });
});

test('short names are unique', () => {
  const names = allKinds.flatMap((kind) => kind.shortNames);
  expect(names).toEqual([...new Set(names)]);
});

test('only kinds with a controller are installed', () => {
  expect(installedKinds.map((kind) => kind.kind)).toEqual([
    'ValkeyCluster',
    'ValkeyClusterStatus',
    'ValkeyClusterDefaults',
    'ValkeyCA',
    'ValkeyCertificateBundle',
    'ValkeyCertificateBinding',
    'ValkeyUpgrade',
  ]);
});

describe('ValkeyCluster', () => {
  test('has no schema default for a field that ValkeyClusterDefaults can supply, or that could never win', () => {
    const defaultable = new Set(bodyOf(valkeyClusterDefaults).map(({ path }) => path));
    const defaulted = pathsWhere(bodyOf(valkeyCluster), (schema) => schema.default !== undefined);
    expect(defaulted.filter((path) => defaultable.has(path))).toEqual([]);
  });

  test('shows the columns that people expect, in order', () => {
    expect(valkeyCluster.columns.map(({ name, wide = false }) => (wide ? `(${name})` : name)).join(' ')).toBe(
      'Ready Phase Masters Replicas Slots Operation Version Age (Reason) (Cert-Expiry)',
    );
  });

  test('scales by its primaries', () => {
    expect(buildCrd(valkeyCluster).spec.versions[0]!.subresources).toMatchObject({
      scale: { specReplicasPath: '.spec.masterCount', statusReplicasPath: '.status.masterCount' },
    });
  });
});

describe('isForeignCrd', () => {
  test('knows our own', () => {
    expect(allKinds.map(buildCrd).filter(isForeignCrd)).toEqual([]);
  });

  test('finds a CRD of the same name that another operator installed', () => {
    expect(isForeignCrd({ metadata: { name: 'valkeyclusters.valkey.io' } })).toBe(true);
    expect(
      isForeignCrd({ metadata: { name: 'valkeyclusters.valkey.io', annotations: { 'valkey.io/product': 'other' } } }),
    ).toBe(true);
  });

  test('leaves CRDs of other groups alone', () => {
    expect(isForeignCrd({ metadata: { name: 'certificates.cert-manager.io' } })).toBe(false);
  });
});
