import { keySlot, SlotSet } from '@valkey-operator/valkey';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { listShards, replicasToWaitFor, tagsIn } from './load-plan.ts';

const node = (id: string) => ({ id, host: '10.0.0.1', port: 6379 });

describe('the shards of a load', () => {
  test('are the slots of one primary each, also when those are in several ranges', () => {
    const routes = [
      { slots: SlotSet.parse('8192-16383'), primary: node('a'), replicas: [node('c')] },
      { slots: SlotSet.parse('100-8191'), primary: node('b'), replicas: [] },
      { slots: SlotSet.parse('0-99'), primary: node('a'), replicas: [node('c')] },
    ];
    expect(listShards([routes]).map(({ primaryId, slots }) => `${primaryId} ${slots.toString()}`)).toEqual([
      'a 0-99,8192-16383',
      'b 100-8191',
    ]);
  });

  test('have the replicas that any node knows of', () => {
    const view = (...replicas: string[]) => [{ slots: SlotSet.all, primary: node('a'), replicas: replicas.map(node) }];
    expect(listShards([view('b'), view('b', 'c'), view()])).toMatchObject([{ primaryId: 'a', replicas: 2 }]);
  });

  test('get keys of their own slots only', () => {
    fc.assert(
      fc.property(fc.nat(14_000), fc.integer({ min: 300, max: 2383 }), (first, length) => {
        const slots = SlotSet.of([[first, first + length]]);
        const tags = tagsIn(slots);
        const keys = Array.from({ length: 5 }, () => `w1:{${tags.next().value}}`);
        expect(new Set(keys).size).toBe(5);
        for (const key of keys) expect(slots.has(keySlot(key))).toBe(true);
      }),
    );
  });

  test('wait for nobody, one replica, or all that there are', () => {
    const shard = { primaryId: 'a', slots: SlotSet.all, replicas: 2 };
    expect((['none', 1, 'all'] as const).map((level) => replicasToWaitFor(level, shard))).toEqual([0, 1, 2]);
  });
});
