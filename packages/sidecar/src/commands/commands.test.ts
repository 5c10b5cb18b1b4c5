import { create } from '@bufbuild/protobuf';
import { CommandSchema, FailoverMode, FailureReason, RefusalReason } from '@valkey-operator/rpc';
import type { CommandHandler, CommandKind, CommandPayload } from '@valkey-operator/rpc/sidecar';
import { ValkeyError } from '@valkey-operator/valkey';
import { describe, expect, it, vi } from 'vitest';
import { aNode } from '../testing/cluster-nodes.ts';
import { ScriptedNode } from '../testing/scripted-node.ts';
import { BECOME_PRIMARY } from '../unborn.ts';
import { failover } from './failover.ts';
import { forget } from './forget.ts';
import { meet } from './meet.ts';
import { refuseWhile } from './observe.ts';
import { replicate } from './replicate.ts';
import { addSlots, closeSlots, deleteSlots } from './slots.ts';

const primary = aNode('me', { myself: true, slots: '0-99' });
const replicaOf = (primaryId: string) => aNode('me', { myself: true, primaryId });

/** Carries out a command as the executor does; the Valkey is a script (see ScriptedNode). */
async function run<K extends CommandKind>(
  handler: CommandHandler<K>,
  kind: K,
  value: object,
  signal = new AbortController().signal,
) {
  const command = create(CommandSchema, { id: 'c', payload: { case: kind, value } as never });
  return handler.run(command.payload.value as CommandPayload<K>, { command, signal });
}

const answerExec = (command: string) => (command === 'EXEC' ? ['OK'] : undefined);
const unchanged = { case: 'done', value: { unchanged: true } };
const failedBy = (reason: FailureReason) => ({ case: 'failure', value: { reason } });

describe('meet', () => {
  const peers = [{ nodeId: 'new', ip: '10.0.0.3', port: 6379, busPort: 16_379 }];

  it('is done when the peer is known by its id and the link to it is up', async () => {
    const node = new ScriptedNode({ myself: primary }, (_command, it) => {
      it.show({ peers: [aNode('new', { handshake: true })] });
      queueMicrotask(() => it.show({ peers: [aNode('new')] }));
      return undefined;
    });
    expect(await run(meet(node), 'meet', { peers })).toBeUndefined();
    expect(node.commands).toEqual(['CLUSTER MEET 10.0.0.3 6379 16379']);
  });

  it('greets nobody who is known', async () => {
    const node = new ScriptedNode({ myself: primary, peers: [aNode('new')] });
    expect(await run(meet(node), 'meet', { peers })).toMatchObject(unchanged);
    expect(node.commands).toEqual([]);
  });

  it('greets a peer that is known by another address, however connected its link is said to be', async () => {
    const node = new ScriptedNode({ myself: primary, peers: [aNode('new', { ip: '10.0.0.9' })] }, (_command, it) => {
      it.show({ peers: [aNode('new')] });
      return undefined;
    });
    expect(await run(meet(node), 'meet', { peers })).toBeUndefined();
    expect(node.commands).toEqual(['CLUSTER MEET 10.0.0.3 6379 16379']);
  });

  it('fails with a timeout when the peer never answers', async () => {
    const node = new ScriptedNode({ myself: primary });
    const outcome = run(meet(node), 'meet', { peers }, AbortSignal.abort());
    expect(await outcome).toMatchObject(failedBy(FailureReason.TIMED_OUT));
  });
});

describe('slots', () => {
  it('are added where they are missing, and only there', async () => {
    const node = new ScriptedNode({ myself: primary });
    await run(
      addSlots(node, async () => 5000),
      'addSlots',
      {
        slots: [
          { start: 50, end: 149 },
          { start: 200, end: 200 },
        ],
      },
    );
    expect(node.commands).toEqual(['CLUSTER ADDSLOTSRANGE 100 149 200 200']);
  });

  it('that are there already need nothing', async () => {
    const node = new ScriptedNode({ myself: primary });
    expect(
      await run(
        addSlots(node, async () => 5000),
        'addSlots',
        { slots: [{ start: 0, end: 99 }] },
      ),
    ).toMatchObject(unchanged);
    expect(node.commands).toEqual([]);
  });

  it('come to an unborn node in one transaction: it leaves one stand-in, takes from the other, and tells all', async () => {
    const standIns = [aNode('leader'), aNode('owner', { slots: '0' })];
    const node = new ScriptedNode({ myself: aNode('me', { myself: true }), unborn: true, standIns }, answerExec);
    expect(
      await run(
        addSlots(node, async () => 5000),
        'addSlots',
        { slots: [{ start: 0, end: 99 }] },
      ),
    ).toBeUndefined();
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
    await run(
      addSlots(node, async () => 5000),
      'addSlots',
      { slots: [{ start: 0, end: 99 }] },
    );
    expect(node.commands.slice(0, 2)).toEqual(['CONFIG SET cluster-node-timeout 500', 'MULTI']);
    await vi.waitFor(() => expect(node.commands.at(-1)).toBe('CONFIG SET cluster-node-timeout 5000'));
  });

  it('that a stand-in still owns are taken from it', async () => {
    const node = new ScriptedNode({ myself: primary, standIns: [aNode('owner', { slots: '100' })] }, answerExec);
    await run(
      addSlots(node, async () => 5000),
      'addSlots',
      { slots: [{ start: 100, end: 199 }] },
    );
    expect(node.commands).toEqual(['MULTI', 'CLUSTER DELSLOTSRANGE 100 100', 'CLUSTER ADDSLOTSRANGE 100 199', 'EXEC']);
  });

  it('come with an epoch where the node has none', async () => {
    const node = new ScriptedNode({ myself: aNode('me', { myself: true, configEpoch: 0 }) }, answerExec);
    await run(
      addSlots(node, async () => 5000),
      'addSlots',
      { slots: [{ start: 0, end: 9 }] },
    );
    expect(node.commands).toEqual(['MULTI', 'CLUSTER ADDSLOTSRANGE 0 9', 'CLUSTER BUMPEPOCH', 'EXEC']);
  });

  it('that Valkey refuses within a transaction are refused in its words', async () => {
    const refusal = new ValkeyError('ERR Slot 0 is already busy');
    const node = new ScriptedNode({ myself: { ...primary, configEpoch: 0 } }, (command) =>
      command === 'EXEC' ? [refusal, 'BUMPED 4'] : undefined,
    );
    const outcome = await run(
      addSlots(node, async () => 5000),
      'addSlots',
      { slots: [{ start: 100, end: 199 }] },
    );
    expect(outcome).toMatchObject({ value: { message: 'ERR Slot 0 is already busy' } });
  });

  it('that another owns are refused in the words of Valkey', async () => {
    const node = new ScriptedNode({ myself: primary }, () => new ValkeyError('ERR Slot 100 is already busy'));
    const outcome = await run(
      addSlots(node, async () => 5000),
      'addSlots',
      { slots: [{ start: 100, end: 100 }] },
    );
    expect(outcome).toMatchObject({ value: { message: 'ERR Slot 100 is already busy' } });
    expect(outcome).toMatchObject(failedBy(FailureReason.VALKEY_ERROR));
  });

  it('that do not exist are refused before anything is done', async () => {
    const node = new ScriptedNode({ myself: primary });
    const outcome = await run(
      addSlots(node, async () => 5000),
      'addSlots',
      { slots: [{ start: 9, end: 16_384 }] },
    );
    expect(outcome).toMatchObject({ case: 'refusal', value: { reason: RefusalReason.INVALID } });
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
    const close = closeSlots(node, { bringBack: async (slots) => void back.push(...slots) });
    expect(await run(close, 'closeSlots', { slots: [{ start: 8, end: 9 }] })).toMatchObject(unchanged);
    await run(close, 'closeSlots', { slots: [{ start: 5, end: 6 }] });
    expect(node.commands).toEqual(['CLUSTER SETSLOT 5 STABLE']);
    // Keys that were on their way out of a slot that stays.
    expect(back).toEqual([5]);
  });
});

describe('replicate', () => {
  it('is done when the node says that it follows the primary', async () => {
    const node = new ScriptedNode({ myself: aNode('me', { myself: true }), peers: [aNode('p')] }, (_command, it) => {
      it.show({ myself: replicaOf('p') });
      return undefined;
    });
    expect(await run(replicate(node), 'replicate', { primaryId: 'p' })).toBeUndefined();
    expect(node.commands).toEqual(['CLUSTER REPLICATE p']);
  });

  it('is followed by looks until the link is up, which the command does not wait for', async () => {
    let looks = 0;
    const node = new ScriptedNode({ myself: aNode('me', { myself: true }), peers: [aNode('p')] }, (_command, it) => {
      it.show({ myself: replicaOf('p'), link: { up: false } });
      return undefined;
    });
    const watched = Object.assign(node, {
      refresh: ((refresh) => async () => {
        if ((looks += 1) === 6) node.show({ link: { up: true } });
        return refresh();
      })(node.refresh.bind(node)),
    });
    await run(replicate(watched), 'replicate', { primaryId: 'p' });
    expect(looks).toBeLessThan(6);
    await vi.waitFor(() => expect(looks).toBe(6));
  });

  it('waits until the other is known as a primary', async () => {
    const myself = aNode('me', { myself: true });
    const node = new ScriptedNode({ myself, peers: [aNode('p', { role: 'replica' })] });
    const outcome = run(replicate(node), 'replicate', { primaryId: 'p' }, AbortSignal.abort());
    expect(await outcome).toMatchObject(failedBy(FailureReason.TIMED_OUT));
    expect(node.commands).toEqual([]);
  });

  it('needs nothing where it does', async () => {
    const node = new ScriptedNode({ myself: replicaOf('p'), peers: [aNode('p')] });
    expect(await run(replicate(node), 'replicate', { primaryId: 'p' })).toMatchObject(unchanged);
  });
});

describe('failover', () => {
  it.each([
    [FailoverMode.COORDINATED, 'CLUSTER FAILOVER'],
    [FailoverMode.FORCE, 'CLUSTER FAILOVER FORCE'],
    [FailoverMode.TAKEOVER, 'CLUSTER FAILOVER TAKEOVER'],
  ])('in mode %i asks for %s, and is done when the node is primary', async (mode, words) => {
    const node = new ScriptedNode({ myself: replicaOf('p'), link: {} }, (_command, it) => {
      it.show({ myself: primary });
      return undefined;
    });
    expect(
      await run(
        failover(node, async () => true),
        'failover',
        { mode },
      ),
    ).toBeUndefined();
    expect(node.commands).toEqual([words]);
  });

  it('in agreement waits until it will come off', async () => {
    const verdicts = [false, false, true];
    const node = new ScriptedNode({ myself: replicaOf('p'), link: {} }, (_command, it) => {
      it.show({ myself: primary });
      return undefined;
    });
    const judge = async () => verdicts.shift() ?? false;
    await run(failover(node, judge), 'failover', { mode: FailoverMode.COORDINATED });
    expect(verdicts).toEqual([]);
    expect(node.commands).toEqual(['CLUSTER FAILOVER']);
  });

  it.each([
    ['has lost its link', { link: { up: false } }],
    ['copies all data once more', { link: { up: false, syncInProgress: true } }],
    ['loads that copy', { loading: true }],
    ['writes that copy down', { writing: true }],
  ])('in agreement waits while the node %s, although all others are ready', async (_what, trouble) => {
    const node = new ScriptedNode({ myself: replicaOf('p'), link: {} }, (_command, it) => {
      it.show({ myself: primary });
      return undefined;
    });
    let looks = 0;
    const refresh = () => {
      looks += 1;
      return node.refresh();
    };
    const judge = async () => {
      if (looks < 3) node.show(trouble);
      return true;
    };
    const outcome = run(failover({ call: node.call, view: node.view, refresh }, judge), 'failover', {
      mode: FailoverMode.COORDINATED,
    });
    await vi.waitFor(() => expect(looks).toBeGreaterThan(5));
    expect(node.commands).toEqual([]);
    node.show({ link: {}, loading: false, writing: false });
    expect(await outcome).toBeUndefined();
    expect(node.commands).toEqual(['CLUSTER FAILOVER']);
  });

  it('in agreement does not wait for ever while the node writes its data down', async () => {
    const node = new ScriptedNode({ myself: replicaOf('p'), link: {}, writing: true }, (_command, it) => {
      it.show({ myself: primary });
      return undefined;
    });
    vi.useFakeTimers();
    try {
      const outcome = run(
        failover(node, async () => true),
        'failover',
        { mode: FailoverMode.COORDINATED },
      );
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await outcome).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
    expect(node.commands).toEqual(['CLUSTER FAILOVER']);
  });

  it('needs nothing on a primary', async () => {
    const node = new ScriptedNode({ myself: primary });
    expect(await run(failover(node), 'failover', { mode: FailoverMode.FORCE })).toMatchObject(unchanged);
  });

  it('without a mode is refused', async () => {
    const node = new ScriptedNode({ myself: replicaOf('p') });
    expect(await run(failover(node), 'failover', {})).toMatchObject({ case: 'refusal' });
    expect(node.commands).toEqual([]);
  });
});

it('forget leaves alone whom the node does not know', async () => {
  const node = new ScriptedNode({ myself: primary, peers: [aNode('old')] });
  await run(forget(node), 'forget', { nodeIds: ['old', 'unknown'] });
  expect(node.commands).toEqual(['CLUSTER FORGET old']);
  expect(await run(forget(node), 'forget', { nodeIds: ['unknown'] })).toMatchObject(unchanged);
});

it('nothing is begun while the pod is being terminated', async () => {
  const node = new ScriptedNode({ myself: replicaOf('p') });
  const { failover: guarded } = refuseWhile(() => true, { failover: failover(node) });
  const outcome = guarded && (await run(guarded, 'failover', { mode: FailoverMode.FORCE }));
  expect(outcome).toMatchObject({ case: 'refusal', value: { reason: RefusalReason.TERMINATING } });
  expect(node.commands).toEqual([]);
});
