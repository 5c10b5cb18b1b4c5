import { SlotSet } from '@valkey-operator/valkey';
import { expect, it } from 'vitest';
import { keepOneWay } from './one-way.ts';

const move = (from: string, to: string) => ({ from, to, slots: SlotSet.parse('0-9') });

it('a node gives no slots away while some arrive, and gets none while it gives some away', () => {
  expect(keepOneWay([move('b', 'c'), move('c', 'a'), move('c', 'b')], [move('a', 'b')])).toEqual([move('c', 'b')]);
});

it('of two moves that are wanted, and that would make a node both, the first one begins', () => {
  expect(keepOneWay([move('a', 'b'), move('b', 'c'), move('c', 'a'), move('d', 'b')], [])).toEqual([
    move('a', 'b'),
    move('d', 'b'),
  ]);
});
