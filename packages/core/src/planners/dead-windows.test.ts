import { describe, expect, it } from 'vitest';
import { bear, condition, settle } from '../testing/settle.ts';

const nightly = { cron: '0 4 * * *', duration: '1h' };

describe('a maintenance window', () => {
  it.each(['0 4 * * sat-sun', '0 5-3 * * *', '0 0 30 2,2 *'])('at "%s", which never comes, is told', (cron) => {
    const cluster = bear({ spec: { maintenanceWindows: [nightly, { cron, duration: '1h' }] } });
    const plan = settle(cluster, 5);
    const message = expect.stringContaining(`spec.maintenanceWindows[1].cron is "${cron}", a time that never comes`);
    expect(condition(plan, 'Degraded')).toEqual({ status: 'True', reason: 'InvalidSpec', message });
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'True' });
    cluster.change({ maintenanceWindows: [nightly] });
    expect(condition(settle(cluster, 5), 'Degraded')).toMatchObject({ status: 'False' });
  });

  it('that opens seldom is one that comes', () => {
    const cluster = bear({ spec: { maintenanceWindows: [{ cron: '0 4 29 2 *', duration: '1h' }] } });
    expect(condition(settle(cluster, 5), 'Degraded')).toMatchObject({ status: 'False' });
  });
});
