import { type RespValue, SlotSet, ValkeyError } from '@valkey-operator/valkey';
import { connect } from '@valkey-operator/valkey/connection';
import { describe, expect, it, vi } from 'vitest';
import { FakeValkey } from '../testing/fake-valkey.ts';
import type { MoveOrder } from './move.ts';
import { SlotMover } from './slot-mover.ts';

const WAIT = { timeout: 20_000 };

/** A Valkey that notes what it is told, and answers what the script says, else OK. */
async function startValkey(script: (command: string) => RespValue | undefined) {
  const commands: string[] = [];
  const valkey = new FakeValkey((command) => {
    if (!/^(CLIENT|EVAL_RO|CLUSTER NODES)/.test(command)) commands.push(command);
    return script(command) ?? defaultAnswer(command);
  });
  await valkey.start();
  return { valkey, commands };
}

function defaultAnswer(command: string): RespValue {
  if (command === 'CLUSTER NODES') return tableWith('master');
  return command.startsWith('EVAL_RO') ? [] : 'OK';
}

const tableWith = (flags: string) => `target 10.0.0.2:6379@16379 ${flags} - 0 0 4 connected\n`;

function anOrder(change: Partial<MoveOrder> = {}): MoveOrder {
  return {
    slots: SlotSet.of([[0, 3]]),
    target: { nodeId: 'target', ip: '10.0.0.2', port: 6379 },
    method: 'atomic',
    keysAtOnce: 100,
    timeLimitMs: 60_000,
    ...change,
  };
}

async function moving(
  {
    source,
    target = () => undefined,
  }: Record<'source', (command: string) => RespValue | undefined> & {
    target?: (command: string) => RespValue | undefined;
  },
  use: (mover: SlotMover, seen: { source: string[]; target: string[] }) => Promise<void>,
) {
  const [from, to] = [await startValkey(source), await startValkey(target)];
  await using stack = new AsyncDisposableStack();
  for (const { valkey } of [from, to]) stack.use(valkey);
  const open = (valkey: FakeValkey) => connect({ address: { path: valkey.path }, timeoutMs: 5000 });
  const mover = new SlotMover({
    openSource: () => open(from.valkey),
    openTarget: () => open(to.valkey),
    onEnd: () => undefined,
  });
  await use(mover, { source: from.commands, target: to.commands });
}

const migration = (name: string, slots: string, state: string, message = ''): RespValue =>
  new Map<string, RespValue>([
    ['name', name],
    ['operation', 'EXPORT'],
    ['slot_ranges', slots],
    ['source_node', 'source'],
    ['target_node', 'target'],
    ['create_time', 1],
    ['last_update_time', 1],
    ['state', state],
    ['message', message],
    ['remaining_repl_size', 0],
  ]);

function countEach(command: string, count: (slot: number) => number): RespValue {
  const [first = 0, last = 0] = command.split(' ').slice(-2).map(Number);
  return Array.from(SlotSet.of([[first, last]]), (slot) => [slot, new Map([['key-count', count(slot)]])]);
}

interface AtomicScript {
  /** How the migration with this number ends, given how many have begun. */
  readonly end: (number: number, begun: number) => { state: string; message?: string };
  readonly keysPerSlot?: number;
  readonly usedMemory?: number;
  readonly forkMicroseconds?: number;
}

function atomicValkey({ end, keysPerSlot = 60, usedMemory = 2 ** 30, forkMicroseconds = 500 }: AtomicScript) {
  const begun: string[] = [];
  let isCancelled = false;
  return (command: string): RespValue | undefined => {
    if (command.startsWith('CLUSTER SLOT-STATS')) return countEach(command, () => keysPerSlot);
    if (command === 'INFO memory') return `# Memory\r\nused_memory:${usedMemory}\r\nused_memory_human:1K`;
    if (command === 'INFO stats') return `# Stats\r\nlatest_fork_usec:${forkMicroseconds}`;
    if (command === 'CLUSTER GETSLOTMIGRATIONS')
      return begun.map((slots, index) => {
        const { state, message } = isCancelled ? { state: 'cancelled' } : end(index + 1, begun.length);
        return migration(`m${index + 1}`, slots, state, message);
      });
    const [, first, last] = /MIGRATESLOTS SLOTSRANGE (\d+) (\d+)/.exec(command) ?? [];
    if (first !== undefined) begun.push(`${first}-${last}`);
    if (command === 'CLUSTER CANCELSLOTMIGRATIONS') isCancelled = true;
    return undefined;
  };
}

describe('a move as a whole', () => {
  it('goes range by range, each with no more keys than allowed', async () => {
    await moving({ source: atomicValkey({ end: () => ({ state: 'success' }) }) }, async (mover, { source }) => {
      mover.begin(anOrder({ keysAtOnce: 120 }), 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
      expect(source.filter((command) => command.includes('MIGRATESLOTS'))).toEqual([
        'CLUSTER MIGRATESLOTS SLOTSRANGE 0 1 NODE target',
        'CLUSTER MIGRATESLOTS SLOTSRANGE 2 3 NODE target',
      ]);
      expect(mover.progress).toMatchObject({ movedSlots: 4, movedKeys: 240, leftKeys: 0, failures: 0 });
    });
  });

  it.each([
    ['once it knows how long clients wait', 2 ** 30, 1],
    ['from the first on where there are few data', 2 ** 20, 2],
  ])('in haste has the next range in the queue before this one has arrived, %s', async (_when, usedMemory, first) => {
    const seen: number[] = [];
    const end = (number: number, begun: number) => {
      seen.push(begun);
      return { state: number === 1 || number < begun || begun === 4 ? 'success' : 'snapshotting' };
    };
    await moving({ source: atomicValkey({ end, keysPerSlot: 10_000, usedMemory }) }, async (mover) => {
      mover.begin(anOrder({ keysAtOnce: 10_000 }), 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
      expect(mover.progress).toMatchObject({ movedSlots: 4, movedKeys: 40_000 });
      expect(seen[0]).toBe(first);
    });
  });

  it.each([
    ['where it takes its time to fork', { forkMicroseconds: 200_000 }, 10_000],
    ['without haste', {}, 9_999],
  ])('%s begins a range only when the one before has arrived', async (_where, script, keys) => {
    let atOnce = 0;
    const end = (number: number, begun: number) => {
      const isNew = number === begun && atOnce < begun;
      if (isNew) atOnce = begun;
      return { state: isNew ? 'snapshotting' : 'success' };
    };
    const source = atomicValkey({ end, keysPerSlot: keys, ...script });
    await moving({ source }, async (mover, { source: commands }) => {
      mover.begin(anOrder({ keysAtOnce: keys }), 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
      const asked = commands.filter((command) => /MIGRATESLOTS|GETSLOTMIGRATIONS/.test(command));
      const rows = asked.join().split('CLUSTER MIGRATESLOTS').slice(1);
      expect(rows.map((row) => row.split('GETSLOTMIGRATIONS').length - 1)).toEqual([2, 2, 2, 2]);
    });
  });

  it('ends as a whole when one of two ranges cannot be moved', async () => {
    const end = (number: number, begun: number) => ({
      state: number === 2 && begun === 3 ? 'failed' : number === 1 ? 'success' : 'snapshotting',
    });
    await moving({ source: atomicValkey({ end, keysPerSlot: 10_000 }) }, async (mover, { source }) => {
      mover.begin(anOrder({ keysAtOnce: 10_000 }), 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('failed'), WAIT);
      expect(source).toContain('CLUSTER CANCELSLOTMIGRATIONS');
      expect(mover.progress?.message).toContain('slots 1 is at "failed"');
      expect(mover.progress?.slots).toEqual(SlotSet.of([[1, 3]]));
    });
  });

  it('fails in the words of Valkey, and counts how often', async () => {
    const refuse = atomicValkey({ end: () => ({ state: 'failed', message: 'no replica' }) });
    await moving({ source: refuse }, async (mover) => {
      mover.begin(anOrder(), 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('failed'), WAIT);
      expect(mover.progress).toMatchObject({ failures: 1, message: expect.stringContaining('no replica') as string });
      expect(mover.progress?.slots).toEqual(SlotSet.of([[0, 3]]));
      mover.begin(anOrder(), 'source');
      expect(mover.progress?.message).toMatch(/^waits before attempt 2, because .*no replica/);
      await mover.cancel();
      expect(mover.progress).toMatchObject({ state: 'cancelled', failures: 1 });
    });
  });

  it.each(['master,fail', 'master,fail?'])('does not begin as long as the target is %s', async (flags) => {
    const script = atomicValkey({ end: () => ({ state: 'success' }) });
    let table = tableWith(flags);
    const source = (command: string) => (command === 'CLUSTER NODES' ? table : script(command));
    await moving({ source }, async (mover, { source: commands }) => {
      mover.begin(anOrder(), 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('failed'), WAIT);
      expect(mover.progress?.message).toContain('taken for failed');
      expect(commands.filter((command) => command.includes('MIGRATESLOTS'))).toEqual([]);
      table = tableWith('master');
      mover.begin(anOrder(), 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
    });
  });

  it('is broken off when it is cancelled', async () => {
    const slow = atomicValkey({ end: () => ({ state: 'snapshotting' }) });
    await moving({ source: slow }, async (mover, { source }) => {
      mover.begin(anOrder(), 'source');
      await vi.waitFor(() => expect(source.join()).toContain('MIGRATESLOTS'), WAIT);
      await mover.cancel();
      expect(source).toContain('CLUSTER CANCELSLOTMIGRATIONS');
      expect(mover.progress?.state).toBe('cancelled');
      expect(mover.isRunning).toBe(false);
    });
  });
});

/** One key in each slot, until it is moved. What is moved is asked for and executed in one transaction. */
function keyedValkey(migrate: (key: string) => RespValue | undefined = () => undefined) {
  const left = new Set(['0', '1', '2', '3']);
  let queued: string[] = [];
  const execute = (command: string): RespValue => {
    if (command.startsWith('DUMP')) return `dump of ${command.slice(5)}`;
    if (command.startsWith('PEXPIRETIME')) return -1;
    const [key = ''] = /key\d/.exec(command) ?? [];
    const refusal = migrate(key);
    if (refusal === undefined) left.delete(key.slice(3));
    return refusal ?? 'OK';
  };
  return (command: string): RespValue | undefined => {
    const [name = '', , slot = ''] = command.split(' ');
    if (command.startsWith('CLUSTER SLOT-STATS')) return countEach(command, (each) => (left.has(`${each}`) ? 1 : 0));
    if (command.startsWith('CLUSTER GETKEYSINSLOT')) return left.has(slot) ? [`key${slot}`] : [];
    if (command.startsWith('EXISTS')) return left.has(command.slice(10)) ? 1 : new ValkeyError('ASK 1 10.0.0.2:6379');
    if (name === 'MULTI') queued = [];
    if (['DUMP', 'PEXPIRETIME', 'MIGRATE'].includes(name)) queued.push(command);
    return name === 'EXEC' ? queued.map(execute) : undefined;
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

  it('keeps what has left until the target has it confirmed, and brings it to the next one if it dies before', async () => {
    let dies = true;
    const target = (command: string) =>
      dies && command.includes('NODE') ? new ValkeyError('NOREPLICAS the target dies here') : undefined;
    await moving({ source: keyedValkey(), target }, async (mover, seen) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('failed'), WAIT);
      dies = false;
      seen.target.splice(0);
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
      const restored = ['ASKING', 'RESTORE key1 0 dump of key1 ABSTTL'];
      expect(seen.target).toEqual(['CLUSTER SETSLOT 1 IMPORTING source', ...restored, 'CLUSTER SETSLOT 1 NODE target']);
      seen.target.splice(0);
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
      expect(seen.target.join()).not.toContain('RESTORE');
    });
  });

  it('brings what has left back to the source when the slot stays there', async () => {
    const target = (command: string) => (command.includes('NODE') ? new ValkeyError('NOREPLICAS') : undefined);
    await moving({ source: keyedValkey(), target }, async (mover, seen) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('failed'), WAIT);
      await mover.bringBack([1]);
      expect(seen.source.at(-1)).toBe('RESTORE key1 0 dump of key1 ABSTTL');
    });
  });

  it('moves a large key alone, and names it', async () => {
    const both: RespValue = ['small1', 'large1'];
    const script = (command: string): RespValue | undefined => {
      if (command.startsWith('CLUSTER GETKEYSINSLOT')) return both;
      return command.startsWith('EVAL_RO') ? [[2, 64 * 1024 * 1024]] : keyedValkey()(command);
    };
    await moving({ source: script }, async (mover, { source }) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
      expect(source.filter((command) => command.startsWith('MIGRATE'))).toEqual([
        'MIGRATE 10.0.0.2 6379  0 60000 REPLACE KEYS large1',
        'MIGRATE 10.0.0.2 6379  0 3000 REPLACE KEYS small1',
      ]);
      expect(mover.progress?.notableKeys).toEqual(['"large1" has 64 MiB']);
    });
  });

  it('goes on with keys of which one has vanished before it was looked at', async () => {
    const refuse = (command: string) =>
      command.startsWith('EVAL_RO') ? new ValkeyError('TRYAGAIN Multiple keys request') : keyedValkey()(command);
    await moving({ source: refuse }, async (mover, { source }) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
      expect(source.join()).toContain('REPLACE KEYS key1');
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
