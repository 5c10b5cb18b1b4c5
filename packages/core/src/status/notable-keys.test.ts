import { expect, it } from 'vitest';
import { planCluster } from '../plan.ts';
import type { SlotMoveView } from '../snapshot.ts';
import { bear } from '../testing/settle.ts';

/** What is told of keys when one shard has moved slots away. */
function tellAfter(change: Partial<SlotMoveView>): string[] {
  const snapshot = bear().snapshot();
  const [source] = snapshot.pods.filter(({ report }) => report?.cluster?.role === 'primary');
  const nothing = { slots: '', movedSlots: 1, movedKeys: 1, leftKeys: 0, elapsedMs: 1, failures: 0, message: '' };
  const notableKeys = ['"a" has 64 MiB', '"b" cannot be moved'];
  const move: SlotMoveView = { ...nothing, state: 'done', targetId: 'x', overForMs: 0, notableKeys, ...change };
  const pods = snapshot.pods.map((pod) => (pod === source ? { ...pod, report: { ...pod.report!, move } } : pod));
  const { events } = planCluster({ ...snapshot, pods });
  return events.flatMap(({ reason, message }) =>
    reason === 'SlotsMoving' ? [message.replace(source!.name, 'source')] : [],
  );
}

it.each([
  ['move', { state: 'running' }],
  ['have just moved, be it with the last slot', {}],
  ['could not be moved', { state: 'failed', failures: 1 }],
] as const)('keys that are large or in the way are told by name when they %s', (_when, move) => {
  expect(tellAfter(move)).toEqual([
    'Slots move from source: the key "a" has 64 MiB.',
    'Slots move from source: the key "b" cannot be moved.',
  ]);
});

it('they are told no more when that is long ago', () => {
  expect(tellAfter({ overForMs: 61_000 })).toEqual([]);
});
