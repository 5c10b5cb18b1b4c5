import { type RespValue, SlotSet, ValkeyError } from '@valkey-operator/valkey';
import { describe, expect, it, vi } from 'vitest';
import { anOrder, countEach, moving, WAIT } from '../testing/moving.ts';

const A_LIBRARY = [new Map([['library_name', 'lab']])];

/** A source without keys, and a target; `list` tells what each has. */
function between(list: { source: RespValue; target: RespValue }, restore: RespValue = 'OK') {
  const looks = { source: 0, target: 0 };
  const look = (end: 'source' | 'target') => {
    looks[end] += 1;
    return list[end];
  };
  const source = (command: string): RespValue | undefined => {
    if (command === 'FUNCTION LIST') return look('source');
    if (command === 'FUNCTION DUMP') return 'dump of functions';
    if (command.startsWith('CLUSTER SLOT-STATS')) return countEach(command, () => 0);
    if (command.includes(' MIGRATESLOTS')) return new ValkeyError('ERR this one knows no migration');
    return /KEYSINSLOT|GETSLOTMIGRATIONS/.test(command) ? [] : undefined;
  };
  const target = (command: string): RespValue | undefined => {
    if (command === 'FUNCTION LIST') return look('target');
    return command.startsWith('FUNCTION RESTORE') ? restore : undefined;
  };
  return { looks, source, target };
}

describe('functions', () => {
  const order = anOrder({ method: 'by-key', slots: SlotSet.of([[1, 1]]) });
  const arrived = ['CLUSTER SETSLOT 1 IMPORTING source', 'CLUSTER SETSLOT 1 NODE target'];
  const brought = 'FUNCTION RESTORE dump of functions';

  it('come to a new primary before its first slot', async () => {
    await moving(between({ source: A_LIBRARY, target: [] }), async (mover, { target }) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
      expect(target).toEqual([brought, ...arrived]);
    });
  });

  it('come also where slots move as a whole', async () => {
    await moving(between({ source: A_LIBRARY, target: [] }), async (mover, { source, target }) => {
      mover.begin({ ...order, method: 'atomic' }, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('failed'), WAIT);
      expect(target).toEqual([brought]);
      expect(source.at(-1)).toContain('MIGRATESLOTS');
    });
  });

  it('that another source has just brought are there', async () => {
    const faster = new ValkeyError('ERR Library lab already exists');
    await moving(between({ source: A_LIBRARY, target: [] }, faster), async (mover) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
    });
  });

  it('that the target does not take keep slots from moving, in the words of Valkey', async () => {
    const refusal = new ValkeyError('OOM command not allowed');
    await moving(between({ source: A_LIBRARY, target: [] }, refusal), async (mover, { target }) => {
      mover.begin(order, 'source');
      await vi.waitFor(() => expect(mover.progress?.state).toBe('failed'), WAIT);
      expect(mover.progress?.message).toContain('OOM');
      expect(target).toEqual([brought]);
    });
  });

  it.each([
    ['the target has some', { source: A_LIBRARY, target: A_LIBRARY }, { source: 1, target: 1 }],
    ['there are none', { source: [], target: [] }, { source: 1, target: 0 }],
  ])('are not brought where %s, which each target is asked once', async (_what, list, asked) => {
    const { looks, ...script } = between(list);
    await moving(script, async (mover, { target }) => {
      const moveTo = async (nodeId: string) => {
        target.splice(0);
        mover.begin({ ...order, target: { ...order.target, nodeId } }, 'source');
        await vi.waitFor(() => expect(mover.progress?.state).toBe('done'), WAIT);
        expect(target.join()).not.toContain('FUNCTION');
      };
      await moveTo('target');
      await moveTo('target');
      expect(looks).toEqual(asked);
      await moveTo('another');
      expect(looks.source).toBe(2);
    });
  });
});
