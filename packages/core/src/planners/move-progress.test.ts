import { SlotSet } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import type { SlotMoveView } from '../snapshot.ts';
import { bear } from '../testing/settle.ts';
import { deriveTopology } from '../topology.ts';
import { describeMoves, estimateKeys } from './move-progress.ts';
import type { RunningMove } from './slot-moves.ts';

/** Ten in each slot that the first shard has. */
const KEYS = 54_610;
const snapshot = bear().snapshot();
const topology = deriveTopology({
  ...snapshot,
  pods: snapshot.pods.map((pod) => ({
    ...pod,
    report: { ...pod.report!, memory: { usedBytes: 0, maxBytes: 0, keys: KEYS } },
  })),
});
const [{ primary: source, slots: owned }, { primary: target }] = topology.shards as [Shard, Shard];
type Shard = (typeof topology.shards)[number];

const move = { from: source.id, to: target.id, slots: owned.lowest(500) };

function underWay(elapsedMs: number, movedKeys: number, state: SlotMoveView['state'] = 'running'): RunningMove {
  const nothing = { targetId: target.id, slots: '', movedSlots: 0, leftKeys: 0, failures: 0, message: '' };
  const told = { ...nothing, state, elapsedMs, movedKeys, notableKeys: [] };
  return { ...move, source: { ...source, report: { ...source.report, move: told } } };
}

describe('keys that are left to move', () => {
  it('are estimated by the share of slots of those that their source has', () => {
    expect(estimateKeys(topology, move)).toBe(5000);
    expect(estimateKeys(topology, { ...move, slots: SlotSet.empty })).toBe(0);
    expect(estimateKeys(topology, { ...move, from: 'nobody' })).toBe(0);
  });

  it('are told with where they go', () => {
    expect(describeMoves(topology, [move], [])).toBe(
      `500 slots with some 5000 keys are left to move from ${source.pod.name} to ${target.pod.name}.`,
    );
  });
});

describe('how long it takes', () => {
  it('is told by the keys that have really moved, of all that are left', () => {
    expect(describeMoves(topology, [move], [underWay(1000, 1000)])).toContain('which takes about 10 s.');
  });

  it('is shorter the more sources are at work', () => {
    const both = [underWay(1000, 1000), underWay(2000, 2000)];
    expect(describeMoves(topology, [], both)).toContain('which takes about 5 s.');
  });

  it('is a second at least', () => {
    expect(describeMoves(topology, [], [underWay(500, 1_000_000)])).toContain('which takes about 1 s.');
  });

  it.each([
    ['too little time has gone by', underWay(499, 1000)],
    ['nothing has moved', underWay(10_000, 0)],
    ['the move is over', underWay(1000, 1000, 'failed')],
  ])('is not guessed when %s', (_why, running) => {
    expect(describeMoves(topology, [], [running])).not.toContain('takes');
  });
});
