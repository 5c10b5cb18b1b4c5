import { FailoverMode, FailureReason } from '@valkey-operator/rpc';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aNode } from '../testing/cluster-nodes.ts';
import { failedBy, primary, replicaOf, run, unchanged } from '../testing/run-command.ts';
import { ScriptedNode } from '../testing/scripted-node.ts';
import type { FactsChange } from '../testing/valkey-facts.ts';
import { failover } from './failover.ts';

/** In step with its primary, and primary as soon as it is asked to be. */
function willingReplica(change: FactsChange = {}): ScriptedNode {
  return new ScriptedNode({ myself: replicaOf('p'), link: {}, ...change }, (_command, it) => {
    it.show({ myself: primary });
    return undefined;
  });
}

/** What the node asks others before it takes over: as one would like it, but for these words. */
function hearing(words: Partial<NonNullable<Parameters<typeof failover>[1]>> = {}) {
  return { isElectable: async () => true, askOffset: async () => 0, ...words };
}

describe('failover', () => {
  it.each([
    [FailoverMode.COORDINATED, 'CLUSTER FAILOVER'],
    [FailoverMode.FORCE, 'CLUSTER FAILOVER FORCE'],
    [FailoverMode.TAKEOVER, 'CLUSTER FAILOVER TAKEOVER'],
  ])('in mode %i asks for %s, and is done when the node is primary', async (mode, words) => {
    const node = willingReplica();
    expect(await run(failover(node, hearing()), 'failover', { mode })).toBeUndefined();
    expect(node.commands).toEqual([words]);
  });

  it('in agreement waits until it will come off', async () => {
    const verdicts = [false, false, true];
    const node = willingReplica();
    const judge = async () => verdicts.shift() ?? false;
    await run(failover(node, hearing({ isElectable: judge })), 'failover', { mode: FailoverMode.COORDINATED });
    expect(verdicts).toEqual([]);
    expect(node.commands).toEqual(['CLUSTER FAILOVER']);
  });

  it.each([
    ['has lost its link', { link: { up: false } }],
    ['copies all data once more', { link: { up: false, syncInProgress: true } }],
    ['loads that copy', { loading: true }],
    ['writes that copy down', { writing: true }],
  ])('in agreement waits while the node %s, although all others are ready', async (_what, trouble) => {
    const node = willingReplica();
    let looks = 0;
    const refresh = () => {
      looks += 1;
      return node.refresh();
    };
    const judge = async () => {
      if (looks < 3) node.show(trouble);
      return true;
    };
    const outcome = run(
      failover({ call: node.call, view: node.view, refresh }, hearing({ isElectable: judge })),
      'failover',
      {
        mode: FailoverMode.COORDINATED,
      },
    );
    await vi.waitFor(() => expect(looks).toBeGreaterThan(5));
    expect(node.commands).toEqual([]);
    node.show({ link: {}, loading: false, writing: false });
    expect(await outcome).toBeUndefined();
    expect(node.commands).toEqual(['CLUSTER FAILOVER']);
  });

  it('in agreement waits until what its primary has sent arrives: after a copy that may take a second', async () => {
    const node = willingReplica({ peers: [aNode('p')] });
    // The node itself is at 10.
    const sent = [12, 11, 10];
    const askOffset = async () => sent.shift()!;
    await run(failover(node, hearing({ askOffset })), 'failover', { mode: FailoverMode.COORDINATED });
    expect(sent).toEqual([]);
    expect(node.commands).toEqual(['CLUSTER FAILOVER']);
  });

  it.each([
    ['writes its data down', { writing: true }, 0],
    ['lags behind', {}, 99],
  ])('in agreement does not wait for ever while the node %s', async (_what, trouble, offset) => {
    const node = willingReplica({ peers: [aNode('p')], ...trouble });
    vi.useFakeTimers();
    try {
      const outcome = run(failover(node, hearing({ askOffset: async () => offset })), 'failover', {
        mode: FailoverMode.COORDINATED,
      });
      await vi.advanceTimersByTimeAsync(1000);
      expect(node.commands).toEqual([]);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await outcome).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
    expect(node.commands).toEqual(['CLUSTER FAILOVER']);
  });

  describe('in agreement, of a replica that lacks 100 MB', () => {
    const FAR_BEHIND = 100_000_000;
    beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
    afterEach(() => void vi.useRealTimers());

    /** What its primary has sent is up to the test; each time that it is asked to take over there is much more of that. */
    function ordered(sent: number) {
      const state = { sent, looks: 0 };
      const node = new ScriptedNode({ myself: replicaOf('p'), link: {}, peers: [aNode('p')] }, () => {
        state.sent = FAR_BEHIND;
        return undefined;
      });
      const refresh = () => {
        state.looks += 1;
        return node.refresh();
      };
      const deadline = new AbortController();
      const outcome = run(
        failover({ call: node.call, view: node.view, refresh }, hearing({ askOffset: async () => state.sent })),
        'failover',
        { mode: FailoverMode.COORDINATED },
        deadline.signal,
      );
      /** Time for it to lose its patience, and to ask again. */
      const waitLong = async () => {
        for (const ms of [0, 12_000]) {
          vi.advanceTimersByTime(ms);
          const { looks } = state;
          await vi.waitFor(() => expect(state.looks).toBeGreaterThan(looks + 5));
        }
      };
      return { node, state, deadline, outcome, waitLong };
    }

    it('is not asked for: writes would stop until it has that', async () => {
      const { node, deadline, outcome, waitLong } = ordered(FAR_BEHIND);
      await waitLong();
      deadline.abort();
      expect(await outcome).toMatchObject(failedBy(FailureReason.TIMED_OUT));
      expect(node.commands).toEqual([]);
    });

    it('is asked for again once it has caught up, not before', async () => {
      const { node, state, outcome, waitLong } = ordered(0);
      await vi.waitFor(() => expect(node.commands).toHaveLength(1));
      await waitLong();
      expect(node.commands).toEqual(['CLUSTER FAILOVER']);
      state.sent = 0;
      await vi.waitFor(() => expect(node.commands).toHaveLength(2));
      node.show({ myself: primary });
      expect(await outcome).toBeUndefined();
    });

    it('is over when the node has become primary after all', async () => {
      const { node, outcome, waitLong } = ordered(0);
      await vi.waitFor(() => expect(node.commands).toHaveLength(1));
      await waitLong();
      node.show({ myself: primary });
      expect(await outcome).toBeUndefined();
      expect(node.commands).toEqual(['CLUSTER FAILOVER']);
    });
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
