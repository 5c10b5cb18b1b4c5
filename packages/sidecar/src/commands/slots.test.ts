import { FailureReason, RefusalReason } from '@valkey-operator/rpc';
import { ValkeyError } from '@valkey-operator/valkey';
import { describe, expect, it, vi } from 'vitest';
import { aNode } from '../testing/cluster-nodes.ts';
import { failedBy, primary, refusedBy, run, unchanged } from '../testing/run-command.ts';
import { ScriptedNode } from '../testing/scripted-node.ts';
import { BECOME_PRIMARY } from '../unborn.ts';
import { SlotSearch } from '../slot-search.ts';
import { addSlots, closeSlots, deleteSlots, searchSlots } from './slots.ts';

/** Told when a setting that was changed for a moment is what it was. */
const endOwnChange = vi.fn<() => void>();
const settings = { beginOwnChange: () => endOwnChange };

const answerExec = (command: string) => (command === 'EXEC' ? ['OK'] : undefined);

function add(
  node: ScriptedNode,
  slots: readonly { readonly start: number; readonly end: number }[],
  ask?: Parameters<typeof addSlots>[2],
) {
  const handler = addSlots(node, { nodeTimeoutMs: async () => 5000, settings }, ask);
  return run(handler, 'addSlots', { slots });
}

describe('slots', () => {
  it('are added where they are missing, and only there', async () => {
    const node = new ScriptedNode({ myself: primary }, answerExec);
    await add(node, [
      { start: 50, end: 149 },
      { start: 200, end: 200 },
    ]);
    expect(node.commands).toEqual(['MULTI', 'CLUSTER ADDSLOTSRANGE 100 149 200 200', 'CLUSTER BUMPEPOCH', 'EXEC']);
  });

  it('that are there already need nothing', async () => {
    const node = new ScriptedNode({ myself: primary });
    expect(await add(node, [{ start: 0, end: 99 }])).toMatchObject(unchanged);
    expect(node.commands).toEqual([]);
  });

  const former = aNode('former', { slots: '100-149' });
  const askFormer = (slots: string) => async () => ({
    nodes: [aNode('former', { myself: true, slots })],
    shards: [],
  });

  it('are not taken from who owns them, by its own word', async () => {
    const node = new ScriptedNode({ myself: primary, peers: [former] }, answerExec);
    expect(await add(node, [{ start: 100, end: 109 }], askFormer('109'))).toMatchObject(refusedBy(RefusalReason.GUARD));
    expect(node.commands).toEqual([]);
  });

  it('are taken from who seems to own them here, and says otherwise', async () => {
    const node = new ScriptedNode({ myself: primary, peers: [former] }, answerExec);
    await add(node, [{ start: 100, end: 109 }], askFormer('110-149'));
    expect(node.commands).toEqual([
      'MULTI',
      'CLUSTER DELSLOTSRANGE 100 109',
      'CLUSTER ADDSLOTSRANGE 100 109',
      'CLUSTER BUMPEPOCH',
      'EXEC',
    ]);
  });

  it('are searched for keys, whoever owns them; what was found is news for a moment only', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const counts = new Map([
      ['CLUSTER COUNTKEYSINSLOT 7', 2],
      ['CLUSTER COUNTKEYSINSLOT 8', 0],
    ]);
    const search = new SlotSearch();
    const node = new ScriptedNode({ myself: primary }, (command) => counts.get(command));
    await run(searchSlots(node, search), 'searchSlots', { slots: [{ start: 7, end: 8 }] });
    expect([search.findings?.slots.toString(), search.findings?.withKeys.toString()]).toEqual(['7-8', '7']);
    vi.advanceTimersByTime(11_000);
    expect(search.findings).toBeUndefined();
    vi.useRealTimers();
  });

  it('come to an unborn node in one transaction: it leaves one stand-in, takes from the other, and tells all', async () => {
    const standIns = [aNode('leader'), aNode('owner', { slots: '0' })];
    const node = new ScriptedNode({ myself: aNode('me', { myself: true }), unborn: true, standIns }, answerExec);
    expect(await add(node, [{ start: 0, end: 99 }])).toBeUndefined();
    expect(node.commands).toEqual([
      'MULTI',
      BECOME_PRIMARY.join(' '),
      'CLUSTER DELSLOTSRANGE 0 0',
      'CLUSTER ADDSLOTSRANGE 0 98',
      'CLUSTER SETSLOT 99 IMPORTING leader',
      'CLUSTER SETSLOT 99 NODE me',
      'EXEC',
    ]);
  });

  it('are told to all also where the node has just become a primary, or has no stand-in any more', async () => {
    const others = { peers: [aNode('other')] };
    for (const [former, facts] of [
      ['leader', { ...others, standIns: [aNode('leader')] }],
      ['other', others],
    ] as const) {
      const node = new ScriptedNode({ myself: aNode('me', { myself: true }), ...facts }, answerExec);
      await add(node, [{ start: 0, end: 99 }]);
      expect(node.commands).toEqual([
        'MULTI',
        'CLUSTER ADDSLOTSRANGE 0 98',
        `CLUSTER SETSLOT 99 IMPORTING ${former}`,
        'CLUSTER SETSLOT 99 NODE me',
        'EXEC',
      ]);
    }
  });

  it('come late with a short node timeout until the node serves', async () => {
    const late = {
      myself: aNode('me', { myself: true }),
      unborn: true,
      standIns: [aNode('leader')],
      state: 'fail',
    } as const;
    const node = new ScriptedNode(late, (command, it) => {
      if (command === 'EXEC') it.show({ state: 'ok', unborn: false });
      return answerExec(command);
    });
    endOwnChange.mockImplementation(() => void node.commands.push('over'));
    await add(node, [{ start: 0, end: 99 }]);
    expect(node.commands.slice(0, 2)).toEqual(['CONFIG SET cluster-node-timeout 500', 'MULTI']);
    await vi.waitFor(() => expect(node.commands.slice(-2)).toEqual(['CONFIG SET cluster-node-timeout 5000', 'over']));
  });

  it('that a stand-in still owns are taken from it', async () => {
    const node = new ScriptedNode({ myself: primary, standIns: [aNode('owner', { slots: '100' })] }, answerExec);
    await add(node, [{ start: 100, end: 199 }]);
    expect(node.commands.slice(0, 3)).toEqual([
      'MULTI',
      'CLUSTER DELSLOTSRANGE 100 100',
      'CLUSTER ADDSLOTSRANGE 100 199',
    ]);
  });

  it('come with an epoch where the node has none', async () => {
    const node = new ScriptedNode({ myself: aNode('me', { myself: true, configEpoch: 0 }) }, answerExec);
    await add(node, [{ start: 0, end: 9 }]);
    expect(node.commands).toEqual(['MULTI', 'CLUSTER ADDSLOTSRANGE 0 9', 'CLUSTER BUMPEPOCH', 'EXEC']);
  });

  it('that Valkey refuses within a transaction are refused in its words', async () => {
    const refusal = new ValkeyError('ERR Slot 0 is already busy');
    const node = new ScriptedNode({ myself: { ...primary, configEpoch: 0 } }, (command) =>
      command === 'EXEC' ? [refusal, 'BUMPED 4'] : undefined,
    );
    const outcome = await add(node, [{ start: 100, end: 199 }]);
    expect(outcome).toMatchObject({ value: { message: 'ERR Slot 0 is already busy' } });
  });

  it('that another owns are refused in the words of Valkey', async () => {
    const node = new ScriptedNode({ myself: primary }, () => new ValkeyError('ERR Slot 100 is already busy'));
    const outcome = await add(node, [{ start: 100, end: 100 }]);
    expect(outcome).toMatchObject({ value: { message: 'ERR Slot 100 is already busy' } });
    expect(outcome).toMatchObject(failedBy(FailureReason.VALKEY_ERROR));
  });

  it('that do not exist are refused before anything is done', async () => {
    const node = new ScriptedNode({ myself: primary });
    const outcome = await add(node, [{ start: 9, end: 16_384 }]);
    expect(outcome).toMatchObject(refusedBy(RefusalReason.INVALID));
    expect(node.commands).toEqual([]);
  });

  it('are deleted where somebody owns them', async () => {
    const node = new ScriptedNode({ myself: primary });
    await run(deleteSlots(node), 'deleteSlots', { slots: [{ start: 90, end: 120 }] });
    expect(node.commands).toEqual(['CLUSTER DELSLOTSRANGE 90 99']);
  });

  it('that are open are closed, the others left alone', async () => {
    const openSlots = [
      { slot: 5, direction: 'migrating', peer: 'other' },
      { slot: 7, direction: 'importing', peer: 'other' },
    ] as const;
    const node = new ScriptedNode({ myself: { ...primary, openSlots } });
    const back: number[] = [];
    const close = closeSlots(node, { bringBack: async (slot) => void back.push(slot) });
    expect(await run(close, 'closeSlots', { slots: [{ start: 8, end: 9 }] })).toMatchObject(unchanged);
    await run(close, 'closeSlots', { slots: [{ start: 5, end: 6 }] });
    expect(node.commands).toEqual(['CLUSTER SETSLOT 5 STABLE']);
    // Keys that were on their way out of a slot that stays.
    expect(back).toEqual([5]);
  });

  it('stay open, and can be closed again, when what has left the one before does not come back', async () => {
    const openSlots = [5, 7].map((slot) => ({ slot, direction: 'migrating', peer: 'other' }) as const);
    const node = new ScriptedNode({ myself: { ...primary, openSlots } });
    const bringBack = async () => {
      throw new ValkeyError('OOM command not allowed');
    };
    const outcome = await run(closeSlots(node, { bringBack }), 'closeSlots', { slots: [{ start: 5, end: 7 }] });
    expect(outcome).toMatchObject(failedBy(FailureReason.VALKEY_ERROR));
    expect(node.commands).toEqual(['CLUSTER SETSLOT 5 STABLE']);
  });
});
