import { type RespValue, SlotSet, ValkeyError } from '@valkey-operator/valkey';
import { describe, expect, it, vi } from 'vitest';
import { anOrder, countEach, moving, tableWith, WAIT } from '../testing/moving.ts';

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
    const tell = (number: number): { state: string; message?: string } =>
      isCancelled ? { state: 'cancelled' } : end(number, begun.length);
    if (command === 'CLUSTER GETSLOTMIGRATIONS')
      return begun.map((slots, index) => {
        const { state, message } = tell(index + 1);
        return migration(`m${index + 1}`, slots, state, message);
      });
    const [, first, last] = /MIGRATESLOTS SLOTSRANGE (\d+) (\d+)/.exec(command) ?? [];
    if (first !== undefined) begun.push(`${first}-${last}`);
    if (command !== 'CLUSTER CANCELSLOTMIGRATIONS') return undefined;
    const isIdle = begun.every((_, index) => /success|failed|cancelled/.test(tell(index + 1).state));
    isCancelled = true;
    return isIdle ? new ValkeyError('ERR No migrations ongoing') : undefined;
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
      expect(mover.progress).toMatchObject({ state: 'running', failures: 1 });
      expect(mover.progress?.message).toMatch(/^the migration .*no replica/);
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

  it('that is cancelled lets a range arrive that was granted to the target: writes to it would be lost', async () => {
    let asked = 0;
    const seen: string[] = [];
    const script = atomicValkey({ end: () => ({ state: asked < 5 ? 'failover-granted' : 'success' }) });
    const source = (command: string) => {
      if (command === 'CLUSTER GETSLOTMIGRATIONS') asked += 1;
      seen.push(command);
      return script(command);
    };
    await moving({ source }, async (mover) => {
      mover.begin(anOrder({ keysAtOnce: 120 }), 'source');
      await vi.waitFor(() => expect(seen.join()).toContain('MIGRATESLOTS'), WAIT);
      await mover.cancel();
      expect(seen).not.toContain('CLUSTER CANCELSLOTMIGRATIONS');
      expect(mover.progress).toMatchObject({ state: 'cancelled', movedSlots: 2 });
    });
  });

  it('that is cancelled has not ended before the target says what it has, and the source has heard of it', async () => {
    const script = atomicValkey({ end: () => ({ state: 'waiting-to-pause' }) });
    let asked = 0;
    let looked = 0;
    const imported = (state: string) =>
      new Map([...(migration('m1', '0-1', state) as Map<string, RespValue>), ['operation', 'IMPORT']]);
    const target = (command: string) => {
      if (command !== 'CLUSTER GETSLOTMIGRATIONS') return undefined;
      asked += 1;
      return [imported(asked < 3 ? 'failover-requested' : 'success')];
    };
    const source = (command: string) => {
      if (command !== 'CLUSTER NODES') return script(command);
      if (asked >= 3) looked += 1;
      return looked < 3 ? tableWith('master') : tableWith('master').replace('0-99', '2-99');
    };
    await moving({ source, target }, async (mover, { source: commands }) => {
      mover.begin(anOrder({ keysAtOnce: 120 }), 'source');
      await vi.waitFor(() => expect(commands.join()).toContain('MIGRATESLOTS'), WAIT);
      await mover.cancel();
      expect(mover.progress?.state).toBe('cancelled');
      expect([asked >= 3, looked]).toEqual([true, 3]);
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
