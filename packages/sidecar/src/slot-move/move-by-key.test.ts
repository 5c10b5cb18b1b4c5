import { type RespValue, SlotSet, ValkeyError } from '@valkey-operator/valkey';
import { describe, expect, it, vi } from 'vitest';
import { anOrder, countEach, moving, WAIT } from '../testing/moving.ts';

/** One key in each slot, until it is moved. What is moved is asked for and executed in one transaction. */
function keyedValkey(migrate: (key: string) => RespValue | undefined = () => undefined) {
  const left = new Set(['0', '1', '2', '3']);
  let queued: string[] | undefined;
  const execute = (command: string): RespValue => {
    if (command.startsWith('DUMP')) return `dump of ${command.slice(5)}`;
    if (command.startsWith('PEXPIRETIME')) return -1;
    const keys = command.match(/key\d/g) ?? [];
    if (command.startsWith('EXISTS')) return keys.filter((key) => left.has(key.slice(3))).length;
    const refusal = migrate(keys[0] ?? '');
    if (refusal === undefined) for (const key of keys) left.delete(key.slice(3));
    return refusal ?? 'OK';
  };
  return (command: string): RespValue | undefined => {
    const [name = '', , slot = ''] = command.split(' ');
    if (queued && name !== 'EXEC') return void queued.push(command);
    if (command.startsWith('CLUSTER SLOT-STATS')) return countEach(command, (each) => (left.has(`${each}`) ? 1 : 0));
    if (command.startsWith('CLUSTER GETKEYSINSLOT')) return left.has(slot) ? [`key${slot}`] : [];
    if (command.startsWith('EXISTS')) return left.has(command.slice(10)) ? 1 : new ValkeyError('ASK 1 10.0.0.2:6379');
    if (name === 'MULTI') queued = [];
    if (name !== 'EXEC') return undefined;
    const replies = queued?.map(execute);
    queued = undefined;
    return replies;
  };
}

describe('a move key by key', () => {
  const order = anOrder({ method: 'by-key', slots: SlotSet.of([[1, 1]]) });

  it('opens a slot at both ends, empties it, and gives it to the target before it is taken from the source', async () => {
    await moving({ source: keyedValkey() }, async (mover, { source, target }) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
      expect(target).toEqual(['CLUSTER SETSLOT 1 IMPORTING source', 'CLUSTER SETSLOT 1 NODE target']);
      expect(source.filter((command) => !/KEYSINSLOT|SLOT-STATS/.test(command))).toEqual([
        'CLUSTER SETSLOT 1 MIGRATING target',
        'MULTI',
        'DUMP key1',
        'PEXPIRETIME key1',
        'MIGRATE 10.0.0.2 6379  0 3000 REPLACE KEYS key1',
        'EXISTS key1',
        'EXEC',
        'CLUSTER SETSLOT 1 NODE target',
      ]);
    });
  });

  it('that was cut short after the target got the slot only tells the source', async () => {
    const owner = (command: string) =>
      command.includes('IMPORTING') ? new ValkeyError("ERR I'm already the owner of hash slot 1") : undefined;
    await moving({ source: keyedValkey(), target: owner }, async (mover, { source }) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
      expect(source.at(-1)).toBe('CLUSTER SETSLOT 1 NODE target');
      expect(source.join()).not.toContain('MIGRATE ');
    });
  });

  /** As if the keys had these sizes in MiB; a batch is of one at most. */
  const sized =
    (sizes: readonly number[], valkey = keyedValkey()) =>
    (command: string) => {
      if (command.startsWith('CLUSTER GETKEYSINSLOT')) return sizes.map((_size, index) => `key${index}`);
      if (!command.startsWith('EVAL_RO')) return valkey(command);
      expect(command).toMatch(/MEMORY.*return batches \d+ key0 .* 1048576$/s);
      return sizes.map((size) => [1, Math.round(size * 1024 * 1024)]);
    };

  it('moves a large key alone, keeps none of it, and names it', async () => {
    const valkey = sized([1, 64]);
    await moving({ source: valkey }, async (mover, { source }) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
      expect(source.filter((command) => command.startsWith('MIGRATE'))).toEqual([
        'MIGRATE 10.0.0.2 6379  0 3000 REPLACE KEYS key0',
        'MIGRATE 10.0.0.2 6379  0 60000 REPLACE KEYS key1',
      ]);
      expect(source).not.toContain('DUMP key1');
      expect(mover.progress?.notableKeys).toEqual(['"key1" has 64 MiB']);
    });
  });

  it('reads no more than a batch at once, whatever keys are listed together: memory is scarce here', async () => {
    await moving({ source: sized([0.7, 8, 0.7]) }, async (mover, { source }) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
      const transactions = source.join('\n').split('EXEC').slice(0, -1);
      expect(transactions.map((each) => each.match(/DUMP \w+/g))).toEqual([
        ['DUMP key0'],
        ['DUMP key1'],
        ['DUMP key2'],
      ]);
    });
  });

  it('moves the others when one has vanished before it was looked at', async () => {
    const keyed = keyedValkey();
    const valkey = (command: string): RespValue | undefined => {
      if (command.startsWith('CLUSTER GETKEYSINSLOT')) return ['key0', 'gone', 'key2'];
      if (!command.startsWith('EVAL_RO')) return keyed(command);
      const others = command.includes('key') ? 'TRYAGAIN Multiple keys request' : 'ASK 1 10.0.0.2:6379';
      return command.includes('gone') ? new ValkeyError(others) : undefined;
    };
    await moving({ source: valkey }, async (mover, { source }) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
      const moved = source
        .filter((command) => command.startsWith('MIGRATE'))
        .map((command) => command.split(' KEYS ')[1]);
      expect(moved).toEqual(['key0', 'key2']);
    });
  });

  it('leaves out a key that has vanished, and only such a one', async () => {
    for (const [code, state] of [
      ['ASK 1 10.0.0.2:6379', 'done'],
      ['NOPERM no permission', 'failed'],
    ] as const) {
      let listed = 0;
      const refuse = (command: string): RespValue | undefined => {
        if (command.startsWith('CLUSTER GETKEYSINSLOT')) return listed++ === 0 ? ['key1'] : [];
        if (command.startsWith('DUMP')) return new ValkeyError(code);
        return command === 'EXEC' ? new ValkeyError('EXECABORT Transaction discarded') : keyedValkey()(command);
      };
      await moving({ source: refuse }, async (mover) => {
        mover.begin(order, 'source');
        await vi.waitFor(() => expect(mover.progress?.state).toBe(state), WAIT);
      });
    }
  });

  it('names the key that cannot be moved', async () => {
    const refuse = () => new ValkeyError('ERR Target instance replied with error: OOM');
    await moving({ source: keyedValkey(refuse) }, async (mover) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('failed'), WAIT);
      expect(mover.progress?.message).toMatch(/^key "key1" cannot be moved: .*OOM$/);
      expect(mover.progress?.notableKeys).toEqual(['"key1" cannot be moved']);
    });
  });

  it('names the key until an attempt has shown that it is not in the way any more', async () => {
    let isFull = true;
    const refuse = () => (isFull ? new ValkeyError('ERR Target instance replied with error: OOM') : undefined);
    await moving({ source: keyedValkey(refuse) }, async (mover) => {
      for (const failures of [1, 2]) {
        mover.begin(order, 'source');
        await vi.waitFor(() => expect(mover.progress).toMatchObject({ state: 'failed', failures }), WAIT);
        expect(mover.progress?.notableKeys).toEqual(['"key1" cannot be moved']);
      }
      isFull = false;
      mover.begin(order, 'source');
      expect(mover.progress?.notableKeys).toEqual(['"key1" cannot be moved']);
      expect(mover.progress?.message).toMatch(/^key "key1" cannot be moved/);
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
      expect(mover.progress).toMatchObject({ message: '', notableKeys: [] });
    });
  });

  it('does not name it any more when another target shall get the slot', async () => {
    const refuse = () => new ValkeyError('ERR Target instance replied with error: OOM');
    await moving({ source: keyedValkey(refuse) }, async (mover) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('failed'), WAIT);
      mover.begin({ ...order, target: { ...order.target, nodeId: 'another' } }, 'source');
      expect(mover.progress).toMatchObject({ failures: 0, message: '', notableKeys: [] });
      await mover.cancel();
    });
  });

  it('asks a target that does not answer only once, whatever there is to move: the source serves nobody meanwhile', async () => {
    const silence = () => new ValkeyError('IOERR error or timeout reading to target instance');
    await moving({ source: keyedValkey(silence) }, async (mover, { source }) => {
      mover.begin(anOrder({ method: 'by-key' }), 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('failed'), WAIT);
      expect(mover.progress?.message).toMatch(/^the target does not answer: IOERR/);
      expect(source.filter((command) => command.startsWith('MIGRATE'))).toHaveLength(1);
      expect(mover.progress?.notableKeys).toEqual([]);
    });
  });
});
