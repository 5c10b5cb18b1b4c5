import { describe, expect, it } from 'vitest';
import { judgeLiveness, judgeReadiness } from './readiness.ts';
import { aNode } from './testing/cluster-nodes.ts';
import { aView, NOW, someFacts } from './testing/valkey-facts.ts';

describe('readiness', () => {
  it.each([
    ['a primary with slots', aView(), someFacts()],
    ['a replica whose link is up', aView(), someFacts({ link: { up: true } })],
  ])('is given for %s in a cluster that works', (_name, view, facts) => {
    expect(judgeReadiness(view, facts).ok).toBe(true);
  });

  it.each([
    ['the cluster has failed', aView(), someFacts({ state: 'fail' }), 'the cluster state is fail'],
    [
      'the primary owns nothing',
      aView(),
      someFacts({ myself: aNode('me', { myself: true }) }),
      'the primary owns no slots',
    ],
    ['the link is down', aView(), someFacts({ link: { up: false } }), 'the link to the primary is down'],
    [
      'the replica is copying',
      aView(),
      someFacts({ link: { up: false, syncInProgress: true } }),
      'the replica is copying its primary',
    ],
    [
      'the replica never was in sync',
      aView({ syncedOnce: false }),
      someFacts({ link: { up: false } }),
      'the replica has not been in sync since it started',
    ],
    ['Valkey is loading', aView({ phase: 'loading' }), someFacts({ loading: true }), 'Valkey is loading'],
    ['Valkey has ended', aView({ phase: 'exited' }), undefined, 'Valkey is exited'],
    ['Valkey owes an answer', aView({ phase: 'unresponsive' }), undefined, 'Valkey is unresponsive'],
  ])('is refused, with the reason, when %s', (_name, view, facts, message) => {
    expect(judgeReadiness(view, facts)).toEqual({ ok: false, message });
  });

  it('tells why a start waits at the gate', () => {
    const hold = {
      reason: 'replica-may-have-more-data',
      message: 'a replica may have more data',
      since: NOW,
      until: undefined,
      previousRole: 'primary',
    } as const;
    expect(judgeReadiness(aView({ phase: 'gated', hold }), undefined).message).toContain(hold.message);
  });
});

describe('liveness', () => {
  const after = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);

  it.each(['gated', 'loading', 'running', 'unresponsive'] as const)('holds for ever while Valkey is %s', (phase) => {
    expect(judgeLiveness(aView({ phase }), after(86_400)).ok).toBe(true);
  });

  it('ends when Valkey owes an answer for half a minute, and not before', () => {
    const view = aView({ phase: 'unresponsive', unansweredSince: NOW });
    expect(judgeLiveness(view, after(29)).ok).toBe(true);
    expect(judgeLiveness(view, after(31)).ok).toBe(false);
  });

  it.each(['absent', 'exited', 'starting'] as const)(
    'ends when a process that should be there stays %s: it runs without having asked',
    (phase) => {
      expect(judgeLiveness(aView({ phase }), after(59)).ok).toBe(true);
      expect(judgeLiveness(aView({ phase }), after(61)).ok).toBe(false);
    },
  );
});
