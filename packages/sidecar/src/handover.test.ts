import { describe, expect, it } from 'vitest';
import { chooseCandidates } from './handover.ts';
import { aNode } from './testing/cluster-nodes.ts';
import { someFacts } from './testing/valkey-facts.ts';

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
