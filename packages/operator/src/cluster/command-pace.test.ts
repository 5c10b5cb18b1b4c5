import type { NodeAction } from '@valkey-operator/core';
import { describe, expect, test } from 'vitest';
import { CommandHeld, CommandPace } from './command-pace.ts';

const replicate: NodeAction = {
  type: 'CommandNode',
  pod: 'demo-0',
  guard: { podUid: 'demo-0-uid', nodeId: 'n', role: 'primary' },
  command: { do: 'replicate', primaryId: 'p' },
  reason: 'ReplicaAttached',
};

function aPace() {
  const clock = { now: 0 };
  const pace = new CommandPace(() => clock.now);
  const isHeld = (action: NodeAction) => {
    try {
      return pace.check(action) !== undefined;
    } catch (error) {
      return error instanceof CommandHeld;
    }
  };
  return { clock, pace, isHeld };
}

describe('a command that was refused', () => {
  test('waits, each time twice as long, up to ten seconds', () => {
    const { clock, pace, isHeld } = aPace();
    const waits = Array.from({ length: 7 }, () => {
      pace.slowDown(replicate);
      const from = clock.now;
      while (isHeld(replicate)) clock.now += 50;
      return clock.now - from;
    });
    expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000]);
  });

  test('does not keep back the same one under another guard, nor another one', () => {
    const { pace, isHeld } = aPace();
    pace.slowDown(replicate);
    expect(isHeld(replicate)).toBe(true);
    expect(isHeld({ ...replicate, guard: { ...replicate.guard, role: 'replica' } })).toBe(false);
    expect(isHeld({ ...replicate, command: { do: 'replicate', primaryId: 'q' } })).toBe(false);
  });

  test('is forgotten once it was done', () => {
    const { pace, isHeld } = aPace();
    pace.slowDown(replicate);
    pace.forget(replicate);
    expect(isHeld(replicate)).toBe(false);
  });
});
