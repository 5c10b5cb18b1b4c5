import { SlotSet, ValkeyError, type RespValue } from '@valkey-operator/valkey';
import { describe, expect, it, vi } from 'vitest';
import { anOrder, countEach, historyOf, moving, tableWith, WAIT } from '../testing/moving.ts';

/** Slot 1 with one key, which is moved at the first attempt; what the target says when it is to own the slot. */
function halfMoved(answerNode: () => RespValue | undefined) {
  const state = { isThere: true, history: 'first', table: tableWith('master', '[1->-target]') };
  const source = (command: string): RespValue | undefined => {
    if (command === 'CLUSTER NODES') return state.table;
    if (command.startsWith('CLUSTER SLOT-STATS')) return countEach(command, () => (state.isThere ? 1 : 0));
    if (command.startsWith('CLUSTER GETKEYSINSLOT')) return state.isThere ? ['key1'] : [];
    if (command.startsWith('EXISTS')) return state.isThere ? 1 : new ValkeyError('ASK 1 10.0.0.2:6379');
    if (command !== 'EXEC') return undefined;
    state.isThere = false;
    return ['dump of key1', -1, 'OK', 0];
  };
  const target = (command: string): RespValue | undefined => {
    if (command === 'INFO replication') return historyOf(state.history);
    return command.startsWith('CLUSTER SETSLOT 1 NODE') ? answerNode() : undefined;
  };
  return { state, source, target };
}

const RESTORED = ['ASKING', 'RESTORE key1 0 dump of key1 ABSTTL'];
const order = anOrder({ method: 'by-key', slots: SlotSet.of([[1, 1]]) });

/** An order that fails when its key has left already; then, as `change` has it, the next one. */
async function afterFailure(
  next: typeof order,
  change: (state: ReturnType<typeof halfMoved>['state']) => void,
  check: (told: readonly string[]) => void,
): Promise<void> {
  let dies = true;
  // Nor do its replicas answer when it is asked whether they have the key.
  const refuse = () => (dies ? new ValkeyError('NOREPLICAS Not enough good replicas') : undefined);
  const script = halfMoved(refuse);
  let opened = 0;
  const target = (command: string) =>
    (command.includes('IMPORTING') && opened++ > 0 && refuse()) || script.target(command);
  await moving({ source: script.source, target }, async (mover, seen) => {
    mover.begin(order, 'source');
    await vi.waitFor(() => expect(mover.progress?.state).toBe('failed'), WAIT);
    dies = false;
    change(script.state);
    seen.target.splice(0);
    mover.begin(next, 'source');
    await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
    check(seen.target);
    seen.target.splice(0);
    mover.begin(next, 'source');
    await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
    expect(seen.target.join()).not.toContain('RESTORE');
  });
}

const finished = ['CLUSTER SETSLOT 1 IMPORTING source', 'CLUSTER SETSLOT 1 NODE target'];

/** Slot 1 with two keys; the target is killed while they move, when so many of them have left. */
function cutShort(leftBefore: number) {
  const state = { keys: ['key1', 'key2'], history: 'first', table: tableWith('master', '[1->-target]') };
  const executed = ['dump of key1', -1, 'dump of key2', -1, new ValkeyError('IOERR error or timeout'), 2 - leftBefore];
  const source = (command: string): RespValue | undefined => {
    if (command === 'CLUSTER NODES') return state.table;
    if (command.startsWith('CLUSTER SLOT-STATS')) return countEach(command, () => state.keys.length);
    if (command.startsWith('CLUSTER GETKEYSINSLOT')) return state.keys;
    const [, asked = ''] = /^EXISTS (\w+)$/.exec(command) ?? [];
    if (asked) return state.keys.includes(asked) ? 1 : new ValkeyError('ASK 1 10.0.0.2:6379');
    if (command !== 'EXEC') return undefined;
    state.keys.splice(0, leftBefore);
    return executed;
  };
  const target = (command: string) => (command === 'INFO replication' ? historyOf(state.history) : undefined);
  return { state, source, target };
}

/** Taken from the target if it is there as it was sent. */
const takenBack = (key: string) => [
  'ASKING',
  expect.stringMatching(new RegExp(`^EVAL if .*DUMP.* == .*DEL.* end 1 ${key} dump of ${key}$`)) as string,
];

describe('a move that was cut short', () => {
  it('takes from its target, when that answers again, what it has got without an answer: clients may have deleted it', async () => {
    const script = cutShort(0);
    await moving(script, async (mover, seen) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('failed'), WAIT);
      Object.assign(script.state, { keys: [] });
      seen.target.splice(0);
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
      expect(seen.target).toEqual([finished[0], ...takenBack('key1'), ...takenBack('key2'), finished[1]]);
      seen.target.splice(0);
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
      expect(seen.target).toEqual(finished);
    });
  });

  it.each([
    ['no key if none has left: what is missing now was deleted', 0, [...takenBack('key1'), ...takenBack('key2')]],
    ['only the key that has left: the other was deleted', 1, [...RESTORED, ...takenBack('key2')]],
    ['both keys if both have left', 2, [...RESTORED, 'ASKING', 'RESTORE key2 0 dump of key2 ABSTTL']],
  ])('brings to the successor of its target %s', async (_what, leftBefore, brought) => {
    const script = cutShort(leftBefore);
    await moving(script, async (mover, seen) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('failed'), WAIT);
      expect(mover.progress?.message).toContain('does not answer');
      // A client deletes what is there, then a replica of the target takes over.
      Object.assign(script.state, { keys: [], history: 'second' });
      seen.target.splice(0);
      mover.begin({ ...order, target: { ...order.target, nodeId: 'successor' } }, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
      expect(seen.target.slice(1, -1)).toEqual(brought);
    });
  });

  it('brings back only what has left when its slot is closed', async () => {
    await moving(cutShort(1), async (mover, seen) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('failed'), WAIT);
      seen.source.splice(0);
      await mover.bringBack(1);
      expect(seen.source).toEqual(RESTORED);
    });
  });
});

describe('a key that has left', () => {
  it('is not brought again to the target that has it: who misses it there has deleted it', async () => {
    await afterFailure(
      order,
      () => undefined,
      (told) => expect(told).toEqual(finished),
    );
  });

  it('is brought to the one that takes over from its target', async () => {
    const successor = { ...order, target: { ...order.target, nodeId: 'successor' } };
    await afterFailure(
      successor,
      (state) => (state.history = 'second'),
      (told) =>
        expect(told).toEqual(['CLUSTER SETSLOT 1 IMPORTING source', ...RESTORED, 'CLUSTER SETSLOT 1 NODE successor']),
    );
  });

  it('is brought to its target if that has started anew, maybe without it', async () => {
    await afterFailure(
      order,
      (state) => (state.history = 'second'),
      (told) => expect(told).toEqual([finished[0], ...RESTORED, finished[1]]),
    );
  });

  it.each([
    ['was taken over with all its keys, and came back since', tableWith('master')],
    ['is not its own any more', tableWith('master', '[7->-target]').replace('0-99', '7')],
  ])('is not brought anywhere when its slot %s', async (_what, table) => {
    await afterFailure(
      order,
      (state) => Object.assign(state, { table, history: 'second' }),
      (told) => expect(told).toEqual(finished),
    );
  });

  it('is confirmed at once when another one keeps its slot from moving', async () => {
    const script = halfMoved(() => new ValkeyError('ERR something else'));
    await moving(script, async (mover, seen) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('failed'), WAIT);
      expect(seen.target.at(-1)).toBe('CLUSTER SETSLOT 1 IMPORTING source');
      await mover.bringBack(1);
      expect(seen.source.join()).not.toContain('RESTORE');
    });
  });

  it('is brought back to the source when the slot stays there, because its target is gone for good', async () => {
    const script = halfMoved(() => undefined);
    let opened = 0;
    const target = (command: string) => {
      if (command.includes('IMPORTING') && opened++ === 0) return undefined;
      return command.includes('SETSLOT') ? new ValkeyError('NOREPLICAS') : script.target(command);
    };
    await moving({ ...script, target }, async (mover, seen) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('failed'), WAIT);
      await mover.bringBack(1);
      expect(seen.source.slice(-2)).toEqual(RESTORED);
    });
  });
});
