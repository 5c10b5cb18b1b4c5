import { describe, expect, it } from 'vitest';
import { bear, condition, settle } from '../testing/settle.ts';

describe('a restart that is asked for', () => {
  it.each([
    'tomorrow',
    'now',
    '1763562600',
    '19.11.2026 14:30',
    '2026-11-19 14:30:00',
    '2026-11-19T14:30:00',
    '2026-13-01T00:00:00Z',
  ])('at "%s", which is no time with its zone, is told and not begun', (text) => {
    const cluster = bear();
    const before = cluster.pods.map(({ uid }) => uid);
    cluster.annotate('restartAt', text);
    const first = cluster.reconcile();
    expect(condition(first, 'Degraded')).toMatchObject({ status: 'True', reason: 'InvalidSpec' });
    expect(first.events).toContainEqual({ reason: 'InvalidSpec', message: expect.stringContaining(`"${text}"`) });
    expect(condition(first, 'Degraded').message).toMatch(/such as 2026-11-19T14:30:00Z.*Set it to such a time/);
    expect(condition(settle(cluster, 10), 'Ready')).toMatchObject({ status: 'True' });
    expect(cluster.pods.map(({ uid }) => uid)).toEqual(before);
    cluster.annotate('restartAt', '');
    expect(condition(settle(cluster, 10), 'Degraded')).toMatchObject({ status: 'False' });
  });

  it('at a moment that is yet to come is told until then, and begun when it has come', () => {
    const cluster = bear();
    const before = cluster.pods.map(({ uid }) => uid);
    cluster.annotate('restartAt', new Date(cluster.now + 30_000).toISOString());
    const plan = settle(cluster, 10);
    expect(plan).toMatchObject({ stages: [], wakeAfterMs: 30_000 });
    expect(condition(plan, 'Progressing')).toMatchObject({
      status: 'False',
      message: expect.stringMatching(/restarted from 2023-11-14T22:13:\d\dZ on/),
    });
    cluster.now += 30_000;
    settle(cluster);
    expect(cluster.pods.filter(({ uid }) => before.includes(uid))).toEqual([]);
  });

  it.each(['2023-11-14T22:14:30Z', '2023-11-14T22:14Z', '2023-11-14T23:14:30.5+01:00'])('at "%s" is begun', (text) => {
    const cluster = bear();
    const before = cluster.pods.map(({ uid }) => uid);
    cluster.now = Date.parse('2023-11-15T00:00:00Z');
    cluster.annotate('restartAt', text);
    settle(cluster);
    expect(cluster.pods.filter(({ uid }) => before.includes(uid))).toEqual([]);
  });
});
