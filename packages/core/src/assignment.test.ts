import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignNewcomers } from './assignment.ts';
import { crowdingWithin } from './placement.ts';

interface Node {
  readonly pod: {
    readonly name: string;
    readonly ordinal: number;
    readonly kubernetesNode: string;
    readonly zone: string;
  };
}

/** A primary for each shard and pods that will be their replicas, on hosts as chance has it. */
const scene = (most: number) =>
  fc
    .record({
      shards: fc.integer({ min: 2, max: 5 }),
      replicas: fc.integer({ min: 1, max: most }),
      zones: fc.integer({ min: 1, max: 4 }),
      hosts: fc.array(fc.nat(7), { minLength: 20, maxLength: 20 }),
      order: fc.array(fc.nat(), { minLength: 15, maxLength: 15 }),
    })
    .map(({ shards, replicas, zones, hosts, order }) => {
      const nodes = hosts.slice(0, shards * (1 + replicas)).map((host, ordinal): Node => ({
        pod: { name: `demo-${ordinal}`, ordinal, kubernetesNode: `node-${host}`, zone: `zone-${host % zones}` },
      }));
      return {
        crews: nodes.slice(0, shards).map((primary) => [primary]),
        newcomers: nodes.slice(shards),
        replicas,
        order,
      };
    });

function bestExchange(shards: readonly (readonly Node[])[]): number {
  const total = (crews: readonly (readonly Node[])[]) => crews.reduce((sum, crew) => sum + crowdingWithin(crew), 0);
  const exchange = (first: Node, second: Node) =>
    shards.map((crew) => crew.map((each) => (each === first ? second : each === second ? first : each)));
  const replicas = shards.flatMap((crew) => crew.slice(1));
  return Math.min(...replicas.flatMap((a) => replicas.map((b) => total(exchange(a, b)) - total(shards))));
}

describe('assignNewcomers', () => {
  it('gives every shard the same number, and leaves no exchange that would spread them better', () => {
    fc.assert(
      fc.property(scene(3), ({ crews, newcomers, replicas }) => {
        const joined = assignNewcomers(newcomers, crews);
        expect(joined.map(({ length }) => length)).toEqual(crews.map(() => replicas));
        expect(new Set(joined.flat())).toEqual(new Set(newcomers));
        expect(bestExchange(crews.map((crew, index) => [...crew, ...joined[index]!]))).toBe(0);
      }),
    );
  });

  it('comes to as good an end when the one newcomer of each shard is attached as it becomes ready, in any order', () => {
    fc.assert(
      fc.property(scene(1), ({ crews: born, newcomers, order }) => {
        let crews: Node[][] = born;
        let waiting: readonly Node[] = newcomers;
        for (const pick of order.slice(0, newcomers.length)) {
          const ready = waiting[pick % waiting.length]!;
          const joined = assignNewcomers(waiting, crews);
          crews = crews.map((crew, index) => (joined[index]!.includes(ready) ? [...crew, ready] : crew));
          waiting = waiting.filter((each) => each !== ready);
        }
        expect(bestExchange(crews)).toBe(0);
      }),
    );
  });

  it('fills up the smallest first, and places what there are too few of where they fit', () => {
    const node = (ordinal: number, host: string): Node => ({
      pod: { name: `demo-${ordinal}`, ordinal, kubernetesNode: host, zone: host },
    });
    const [a, b, c, replica] = [node(0, 'a'), node(1, 'b'), node(2, 'c'), node(3, 'd')];
    const [first, second] = [node(4, 'b'), node(5, 'c')];
    expect(assignNewcomers([first, second], [[a, replica], [b], [c]])).toEqual([[], [second], [first]]);
    expect(assignNewcomers([first], [[a], [b], [c]])).toEqual([[first], [], []]);
  });
});
