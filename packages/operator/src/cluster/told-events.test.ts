import { expect, test } from 'vitest';
import { ToldEvents } from './told-events.ts';

const lost = { reason: 'QuorumLost', message: 'two of three' } as const;
const formed = { reason: 'ClusterFormed', message: 'all slots' } as const;

test('an event is told when it begins to hold, not again while it does, and again when it comes back', () => {
  const told = new ToldEvents();
  expect(told.selectNew('a', [lost])).toEqual([lost]);
  expect(told.selectNew('a', [lost, formed])).toEqual([formed]);
  expect(told.selectNew('b', [lost])).toEqual([lost]);
  expect(told.selectNew('a', [])).toEqual([]);
  expect(told.selectNew('a', [lost, lost])).toEqual([lost]);
});
