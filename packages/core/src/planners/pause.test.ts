import { describe, expect, it } from 'vitest';
import { bear, condition, settle } from '../testing/settle.ts';

describe('a pause', () => {
  it.each(['True', 'yes', '1', ' true'])('that is asked for by "%s" is none, and that is told', (text) => {
    const cluster = bear();
    cluster.annotate('paused', text);
    const plan = settle(cluster, 10);
    const message = expect.stringMatching(
      `is "${text}", which is neither "true" nor "false", so the cluster is not paused`,
    );
    expect(condition(plan, 'Degraded')).toEqual({ status: 'True', reason: 'InvalidSpec', message });
    expect(plan.events).toContainEqual({ reason: 'InvalidSpec', message });
    expect(condition(plan, 'Paused').status).not.toBe('True');
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'True' });
  });

  it.each(['true', 'false', ''])('that is "%s" is clear', (text) => {
    const cluster = bear();
    cluster.annotate('paused', text);
    const plan = cluster.reconcile();
    expect(condition(plan, 'Degraded')).toMatchObject({ status: 'False' });
    expect(condition(plan, 'Paused').status === 'True').toBe(text === 'true');
  });
});
