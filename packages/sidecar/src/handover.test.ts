import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chooseCandidates, handOver } from './handover.ts';
import { aNode } from './testing/cluster-nodes.ts';
import { aView, type FactsChange, someFacts } from './testing/valkey-facts.ts';

const replica = (id: string, ip: string, change = {}) => aNode(id, { primaryId: 'me', ip, ...change });
const link = (ip: string, offset: number, state = 'online') => ({ ip, port: 6379, state, offset, lagSeconds: 0 });

describe('who takes over from a primary that stops', () => {
  it('is the replica that has come furthest', () => {
    const facts = someFacts({
      peers: [replica('a', '10.0.0.1'), replica('b', '10.0.0.2')],
      replicas: [link('10.0.0.1', 100), link('10.0.0.2', 200)],
    });
    expect(chooseCandidates(facts).map(({ id }) => id)).toEqual(['b', 'a']);
  });

  it.each([
    ['is still copying', replica('a', '10.0.0.1'), link('10.0.0.1', 0, 'send_bulk')],
    ['is leaving itself', replica('a', '10.0.0.1', { noFailover: true }), link('10.0.0.1', 100)],
    ['is suspected', replica('a', '10.0.0.1', { health: 'suspected' }), link('10.0.0.1', 100)],
    ['is not attached', replica('a', '10.0.0.1'), link('10.0.0.7', 100)],
    ['follows another primary', aNode('a', { primaryId: 'other', ip: '10.0.0.1' }), link('10.0.0.1', 100)],
  ])('is never one that %s', (_name, peer, attached) => {
    expect(chooseCandidates(someFacts({ peers: [peer], replicas: [attached] }))).toEqual([]);
  });

  it('is nobody when the node is no primary with slots', () => {
    const peers = [replica('a', '10.0.0.1')];
    const replicas = [link('10.0.0.1', 100)];
    expect(chooseCandidates(someFacts({ myself: aNode('me', { myself: true }), peers, replicas }))).toEqual([]);
    const follower = aNode('me', { myself: true, primaryId: 'a', slots: '' });
    expect(chooseCandidates(someFacts({ myself: follower, peers, replicas, link: {} }))).toEqual([]);
  });
});

describe('a handover', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const PATIENCE_MS = 10_000;
  const FAR_BEHIND = -10_000_000;

  /** Of a primary at offset 10, whose replica is where the test says, and takes over whenever it is asked. */
  function leave(offset: number | undefined) {
    const state = { offset, asked: 0, looks: 0 };
    let shown: FactsChange = { peers: [replica('a', '10.0.0.1')], replicas: [link('10.0.0.1', 10)] };
    const watch = {
      view: aView(),
      get facts() {
        return someFacts(shown);
      },
      refresh: async () => {
        state.looks += 1;
        return someFacts(shown);
      },
    };
    const others = {
      isElectable: async () => true,
      askOffset: async () => {
        if (state.offset === undefined) throw new Error('no answer');
        return state.offset;
      },
      failOverTo: async () => {
        state.asked += 1;
        shown = { myself: aNode('me', { myself: true, primaryId: 'a' }), link: {} };
      },
    };
    const time = { signal: new AbortController().signal, patientUntil: Date.now() + PATIENCE_MS };
    return { state, outcome: handOver(watch, quiet, time, others) };
  }
  const handedOver = { outcome: 'handed-over', newPrimaryId: 'a' };

  it.each([
    ['has everything', 10],
    ['lacks less than 1 MiB', 11 - 1024 * 1024],
    ['does not say how far it is', undefined],
  ])('to a replica that %s is made at once', async (_what, offset) => {
    const { state, outcome } = leave(offset);
    expect(await outcome).toEqual(handedOver);
    expect(state).toMatchObject({ asked: 1, looks: 2 });
  });

  it('waits while the replica lacks much: writes would stop until it has that', async () => {
    const { state, outcome } = leave(FAR_BEHIND);
    await vi.waitFor(() => expect(state.looks).toBeGreaterThan(1));
    expect(state.asked).toBe(0);
    state.offset = 10;
    expect(await outcome).toEqual(handedOver);
  });

  it('is made all the same when time runs short', async () => {
    const { state, outcome } = leave(FAR_BEHIND);
    await vi.waitFor(() => expect(state.looks).toBe(1));
    vi.advanceTimersByTime(PATIENCE_MS);
    expect(await outcome).toEqual(handedOver);
    expect(state.asked).toBe(1);
  });
});
