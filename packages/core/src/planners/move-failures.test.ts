import { SlotSet } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import type { SlotMoveView } from '../snapshot.ts';
import { bear } from '../testing/settle.ts';
import { deriveTopology, type Topology } from '../topology.ts';
import { describeFailures, findFailing } from './move-failures.ts';

const snapshot = bear().snapshot();
const shards = deriveTopology(snapshot).shards.map(({ primary }) => primary);
const [first, second, third] = shards as [Member, Member, Member];
type Member = (typeof shards)[number];

const failed: SlotMoveView = {
  state: 'failed',
  targetId: third.id,
  slots: '0-9',
  movedSlots: 0,
  movedKeys: 0,
  leftKeys: 0,
  elapsedMs: 0,
  failures: 4,
  message: 'no memory is left',
  notableKeys: [],
};

/** What has become of the move to the third shard, by the shard that it is from. */
function after(moves: readonly Partial<SlotMoveView>[]): Topology {
  const pods = snapshot.pods.map((pod) => {
    const move = moves[shards.findIndex((member) => member.pod.name === pod.name)];
    return move ? { ...pod, report: { ...pod.report!, move: { ...failed, ...move } } } : pod;
  });
  return deriveTopology({ ...snapshot, pods });
}

const wanted = [first, second].map(({ id }) => ({ from: id, to: third.id, slots: SlotSet.of([[0, 9]]) }));
const describeAfter = (moves: readonly Partial<SlotMoveView>[]) => describeFailures(findFailing(after(moves), wanted));

describe('moves that fail again and again', () => {
  const ending = 'It is tried again, at least once a minute; nothing is lost meanwhile.';

  it('are told with the reason and the keys, also while the next attempt is under way', () => {
    const told = `Slots could not be moved from ${first.pod.name} in 5 attempts: no memory is left. Look at the key "a", "b". ${ending}`;
    for (const state of ['failed', 'running'] as const)
      expect(describeAfter([{ state, failures: 5, notableKeys: ['"a"', '"b"'] }])).toBe(told);
  });

  it('of several sources are told with the reason of each', () => {
    const told = `Slots could not be moved from ${first.pod.name} in 4 attempts: one. Slots could not be moved from ${second.pod.name} in 6 attempts: two. ${ending}`;
    expect(describeAfter([{ message: 'one' }, { message: 'two', failures: 6 }])).toBe(told);
  });

  it('of several sources are told once when the reason is the same', () => {
    const names = `${first.pod.name}, ${second.pod.name}`;
    expect(describeAfter([{}, { failures: 6 }])).toBe(
      `Slots could not be moved from ${names} in 6 attempts: no memory is left. ${ending}`,
    );
  });
});

it.each([
  ['that failed less often', { failures: 3 }],
  ['to somebody who shall get nothing any more', { targetId: second.id }],
  ['that has succeeded since', { state: 'done', failures: 0, message: '' }],
] as const)('a move %s is no reason to call a person', (_what, move) => {
  expect(findFailing(after([move]), wanted)).toEqual([]);
});
