import { describe, expect, it } from 'vitest';
import { deriveEvents, type Look } from './derive-events.ts';
import { aNode } from './testing/cluster-nodes.ts';
import { aView, NOW, someFacts } from './testing/valkey-facts.ts';

const primary = { view: aView(), facts: someFacts(), isWatched: false };
type Seen = Partial<Look> & Pick<Look, 'view'>;
const kinds = (...looks: [Seen, Seen]) => {
  const [before, after] = looks.map((look) => ({ facts: undefined, isWatched: false, ...look }));
  return deriveEvents(before!, after!).map((event) => event.case);
};

describe('what happened between two looks', () => {
  it('is nothing when nothing has changed', () => {
    expect(kinds(primary, { view: aView(), facts: someFacts() })).toEqual([]);
  });

  it('is a role that changed', () => {
    const myself = aNode('me', { myself: true, primaryId: 'other' });
    expect(kinds(primary, { view: aView(), facts: someFacts({ myself, link: {} }) })).toEqual([
      'roleChanged',
      'tableChanged',
    ]);
  });

  it('is slots or nodes that somebody took away or brought, unless a session sees it anyway', () => {
    const robbed = someFacts({ myself: aNode('me', { myself: true, slots: '0-96' }) });
    const joined = someFacts({ peers: [aNode('stranger', {})] });
    const openSlots = [{ slot: 7, direction: 'migrating', peer: 'other' }] as const;
    const opened = someFacts({ myself: aNode('me', { myself: true, slots: '0-99', openSlots }) });
    for (const facts of [robbed, joined, opened]) {
      expect(kinds(primary, { view: aView(), facts })).toEqual(['tableChanged']);
      expect(kinds(primary, { view: aView(), facts, isWatched: true })).toEqual([]);
    }
  });

  it('is a cluster that failed, with the readiness that goes with it', () => {
    const after = { view: aView(), facts: someFacts({ state: 'fail' }) };
    expect(kinds(primary, after)).toEqual(['clusterStateChanged', 'readinessChanged']);
  });

  it('is the end of the process, once', () => {
    const lastEnd = { at: NOW, reason: 'crashed', message: 'its socket was closed' } as const;
    const ended = { view: aView({ phase: 'exited', lastEnd, startedAt: undefined }), facts: undefined };
    expect(kinds(primary, ended)).toEqual(['valkeyExited', 'readinessChanged']);
    expect(kinds(ended, { ...ended })).toEqual([]);
  });

  it('is a new start, and a start that waits', () => {
    const absent = { view: aView({ phase: 'exited', startedAt: undefined }), facts: undefined };
    expect(kinds(absent, primary)).toEqual(['valkeyStarted', 'readinessChanged']);
    const hold = {
      reason: 'replica-may-have-more-data',
      message: '',
      since: NOW,
      until: undefined,
      previousRole: 'primary',
    } as const;
    const gated = { view: aView({ phase: 'gated', hold, startedAt: undefined }), facts: undefined };
    expect(kinds(absent, gated)).toEqual(['gateWaiting']);
  });

  it('is no change of role while Valkey does not answer', () => {
    const silent = { view: aView({ phase: 'unresponsive' }), facts: undefined };
    expect(kinds(primary, silent)).toEqual(['readinessChanged']);
  });
});
