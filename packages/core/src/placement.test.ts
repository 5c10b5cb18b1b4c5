import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crowdingWithin, placeShards } from './placement.ts';

const cluster = fc
  .record({
    shards: fc.integer({ min: 3, max: 6 }),
    size: fc.integer({ min: 1, max: 4 }),
    places: fc.array(fc.nat(11), { minLength: 24, maxLength: 24 }),
    zones: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ shards, size, places, zones }) => ({
    shards,
    size,
    nodes: Array.from({ length: shards * size }, (_, ordinal) => {
      const host = places[ordinal] ?? 0;
      return {
        pod: { name: `demo-${ordinal}`, ordinal, kubernetesNode: `node-${host}`, zone: `zone-${host % zones}` },
      };
    }),
  }));

function mostOf(values: readonly (string | undefined)[]): number {
  const counts = Map.groupBy(values, (value) => value);
  return Math.max(0, ...Array.from(counts.values(), ({ length }) => length));
}

describe('placeShards', () => {
  it('gives every node to exactly one shard, and every shard the same number', () => {
    fc.assert(
      fc.property(cluster, ({ shards, size, nodes }) => {
        const placed = placeShards(nodes, shards);
        expect(placed.map(({ length }) => length)).toEqual(Array.from({ length: shards }, () => size));
        expect(new Set(placed.flat()).size).toBe(nodes.length);
      }),
    );
  });

  it('puts no two members of a shard on one node or in one zone when that is possible', () => {
    fc.assert(
      fc.property(cluster, ({ shards, nodes }) => {
        const placed = placeShards(nodes, shards);
        for (const key of ['kubernetesNode', 'zone'] as const) {
          // With at most one pod per shard in each place there is an arrangement in which no shard meets itself.
          const isPossible = mostOf(nodes.map(({ pod }) => pod[key])) <= shards;
          const worst = Math.max(...placed.map((shard) => mostOf(shard.map(({ pod }) => pod[key]))));
          expect(!isPossible || worst === 1).toBe(true);
        }
      }),
    );
  });

  it('puts the primaries on different nodes on three nodes with two pods each', () => {
    const nodes = Array.from({ length: 6 }, (_, ordinal) => ({
      pod: { name: `demo-${ordinal}`, ordinal, kubernetesNode: `node-${ordinal % 3}`, zone: undefined },
    }));
    const placed = placeShards(nodes, 3);
    expect(placed.map(([{ pod }]) => pod.name)).toEqual(['demo-0', 'demo-1', 'demo-2']);
    expect(placed.map(crowdingWithin)).toEqual([0, 0, 0]);
  });
});
