import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KnownPeer, Membership } from '../node-memory.ts';
import { aNode } from '../testing/cluster-nodes.ts';
import { decideStart, listRivals, type PeerAnswer, type StartFacts } from './decide.ts';

const peer = (id: string, isReplica: boolean): KnownPeer => ({
  id,
  ip: '10.0.0.9',
  port: 6379,
  hostname: '',
  isReplica,
});
const primary: Membership = {
  nodeId: 'me',
  role: 'primary',
  slots: '0-99',
  configEpoch: 5,
  peers: [peer('replica', true), peer('other', false)],
};
const nothing: StartFacts = {
  last: primary,
  hasSnapshot: false,
  hasAppendOnlyFile: false,
  answers: [],
  boundReached: false,
};

const me = aNode('me', { slots: '0-99', configEpoch: 5 });
const other = (change = {}) => aNode('other', { slots: '100-199', configEpoch: 6, ...change });
const replica = (change = {}) => aNode('replica', { primaryId: 'me', configEpoch: 5, ...change });

/** The replica itself, with what it tells of its data. */
function fromReplica(data: Pick<PeerAnswer, 'keys' | 'wasLinked'>, slots = '0-99'): PeerAnswer {
  return {
    id: 'replica',
    nodes: [aNode('me', { slots, configEpoch: 5 }), other(), replica({ myself: true })],
    ...data,
  };
}

const successor = aNode('replica', { slots: '0-99', configEpoch: 7 });

/** Who had the slots before, and has them by its own word. */
function fromFormer(change: object, nodes = [aNode('me', { slots: '' })]): PeerAnswer {
  const own = aNode('former', { myself: true, slots: '0-199', configEpoch: 4, ...change });
  return { id: 'former', nodes: [own, ...nodes], keys: 1, wasLinked: false };
}

function fromOther(...nodes: PeerAnswer['nodes']): PeerAnswer {
  return { id: 'other', nodes, keys: 1, wasLinked: false };
}

describe('a Valkey that asks to start', () => {
  it.each<[string, Partial<StartFacts>, string]>([
    ['never was a member', { last: undefined }, 'NewNode'],
    ['was a replica', { last: { ...primary, role: 'replica', slots: '' } }, 'WasReplica'],
    ['was a primary without slots', { last: { ...primary, slots: '' } }, 'OwnsNoSlots'],
    ['was a primary without replicas', { last: { ...primary, peers: [peer('other', false)] } }, 'HasNoReplica'],
    [
      'has lost its slots to a later decision',
      { answers: [fromOther(me, other(), aNode('replica', { slots: '0-99', configEpoch: 7 }))] },
      'AnotherPrimaryTookOver',
    ],
    [
      'has lost its slots to several nodes',
      { answers: [fromOther(other({ slots: '50-199' }), aNode('replica', { slots: '0-49', configEpoch: 7 }))] },
      'AnotherPrimaryTookOver',
    ],
    [
      'has only slots of which nobody has heard, while their former owner serves them',
      { hasAppendOnlyFile: true, answers: [fromFormer({}), fromReplica({ keys: 9, wasLinked: true }, '')] },
      'OwnsNoSlots',
    ],
    [
      'has, besides such slots, only some that another has taken over',
      {
        last: { ...primary, slots: '0-149' },
        answers: [
          fromFormer({ slots: '100-199' }, [aNode('me', { slots: '' }), successor]),
          fromOther(aNode('me', { slots: '' }), successor),
        ],
      },
      'AnotherPrimaryTookOver',
    ],
    [
      'has an only replica that the cluster has given up',
      { answers: [fromOther(me, other(), replica({ health: 'failed' }))] },
      'NoReplicaHasMoreData',
    ],
    [
      'has a replica that restarted empty, as after an outage of everything without persistence',
      { answers: [fromReplica({ keys: 0, wasLinked: false })] },
      'NoReplicaHasMoreData',
    ],
    [
      'has data, and a replica that restarted from disk like itself',
      { hasAppendOnlyFile: true, answers: [fromReplica({ keys: 100, wasLinked: false })] },
      'NoReplicaHasMoreData',
    ],
    [
      'has a former replica that follows another primary now',
      {
        answers: [
          { id: 'replica', keys: 9, wasLinked: true, nodes: [me, replica({ myself: true, primaryId: 'other' })] },
        ],
      },
      'NoReplicaHasMoreData',
    ],
    [
      'has an append-only file, and nobody took over in time',
      { hasAppendOnlyFile: true, boundReached: true, answers: [fromReplica({ keys: 100, wasLinked: true })] },
      'NobodyTookOverInTime',
    ],
    ['has a snapshot, and nobody answered in time', { hasSnapshot: true, boundReached: true }, 'NobodyTookOverInTime'],
  ])('starts when it %s', (_name, change, reason) => {
    expect(decideStart({ ...nothing, ...change })).toEqual({ start: true, reason });
  });

  it.each<[string, Partial<StartFacts>, boolean]>([
    ['its replica is alive and it has no data', { answers: [fromReplica({ keys: 100, wasLinked: true })] }, false],
    ['nobody answers and it has no data, however long that lasts', { boundReached: true }, false],
    [
      'its replica restarted with data and it has none',
      { answers: [fromReplica({ keys: 100, wasLinked: false })], boundReached: true },
      false,
    ],
    ['its replica is only suspected', { answers: [fromOther(me, other(), replica({ health: 'suspected' }))] }, false],
    ['its replica is loading', { answers: [fromReplica({ keys: undefined, wasLinked: false })] }, false],
    [
      'it has a snapshot, which may be old, and the replica followed it to the end',
      { hasSnapshot: true, boundReached: true, answers: [fromReplica({ keys: 100, wasLinked: true })] },
      false,
    ],
    [
      'it has an append-only file, for as long as a failover may take',
      { hasAppendOnlyFile: true, answers: [fromReplica({ keys: 100, wasLinked: true })] },
      true,
    ],
    [
      'its slots are said to be of another, by an older decision',
      { answers: [fromOther(me, other({ slots: '0-199', configEpoch: 4 }), replica())] },
      false,
    ],
    [
      'somebody has heard that it got them, although their former owner has not',
      { answers: [fromFormer({}), fromReplica({ keys: 9, wasLinked: true })] },
      false,
    ],
    [
      'only their former owner answers, and others may have heard',
      { answers: [fromFormer({}, [aNode('me', { slots: '' }), replica()])] },
      false,
    ],
    [
      'somebody claims them who does not know this node',
      { answers: [fromFormer({}, []), fromReplica({ keys: 9, wasLinked: true }, '')] },
      false,
    ],
    [
      'somebody claims them who has never been given any',
      { answers: [fromFormer({ configEpoch: 0 }), fromReplica({ keys: 9, wasLinked: true }, '')] },
      false,
    ],
    [
      'their former owner has opened them to give them away key by key',
      {
        last: { ...primary, slots: '7' },
        hasAppendOnlyFile: true,
        answers: [
          fromFormer({ openSlots: [{ slot: 7, direction: 'migrating', peer: 'me' }] }),
          fromReplica({ keys: 9, wasLinked: true }, ''),
        ],
      },
      true,
    ],
    [
      'their former owner has them only by the word of another',
      {
        answers: [
          fromOther(aNode('me', { slots: '' }), aNode('former', { slots: '0-199', configEpoch: 4 }), replica()),
        ],
      },
      false,
    ],
    ['only a part of its slots has gone', { answers: [fromOther(me, other({ slots: '50-199' }), replica())] }, false],
    [
      'a replica it does not remember is reported',
      { last: { ...primary, peers: [peer('other', false)] }, answers: [fromOther(me, other(), replica())] },
      false,
    ],
  ])('waits when %s', (_name, change, bounded) => {
    expect(decideStart({ ...nothing, ...change })).toMatchObject({ start: false, bounded });
  });

  const health = fc.constantFrom('ok' as const, 'suspected' as const, 'failed' as const);
  const epoch = fc.integer({ min: 0, max: 9 });
  const table = fc.record({ health, epoch, slots: fc.constantFrom('', '0-49', '0-99', '100-199') });
  const worlds = fc.record({
    witnesses: fc.array(table, { maxLength: 4 }),
    keys: fc.option(fc.integer({ min: 1, max: 1000 }), { nil: undefined }),
    wasLinked: fc.boolean(),
    boundReached: fc.boolean(),
  });

  it('never starts as an emptied primary while a replica that still follows it lives, whatever anyone says', () => {
    fc.assert(
      fc.property(worlds, ({ witnesses, keys, wasLinked, boundReached }) => {
        // Witnesses may be wrong about the replica's health, but nobody has taken over: no table has a later owner.
        const answers = witnesses.map((seen, at) => ({
          ...fromOther(me, other({ slots: seen.slots, configEpoch: Math.min(seen.epoch, 5) }), replica(seen)),
          id: `witness-${at}`,
        }));
        const living = fromReplica({ keys, wasLinked });
        const decision = decideStart({ ...nothing, answers: [...answers, living], boundReached });
        expect(decision).toMatchObject({ start: false, bounded: false });
      }),
    );
  });

  it('once it may start, it may start with more data of its own as well', () => {
    fc.assert(
      fc.property(worlds, fc.boolean(), ({ keys, wasLinked, boundReached }, hasSnapshot) => {
        const facts = { ...nothing, boundReached, hasSnapshot, answers: [fromReplica({ keys, wasLinked })] };
        if (!decideStart(facts).start) return;
        expect(decideStart({ ...facts, hasAppendOnlyFile: true }).start).toBe(true);
      }),
    );
  });
});

it('who is said to own slots of this node is asked too', () => {
  const told = fromOther(aNode('me', { slots: '' }), aNode('former', { slots: '0-199' }), other());
  expect([...listRivals(primary, [told])]).toEqual(['former']);
  expect([...listRivals(primary, [told, fromFormer({})])]).toEqual([]);
});
