import { describe, expect, it } from 'vitest';
import { bear } from '../testing/settle.ts';
import { readWindows } from './windows.ts';

const at = (time: string, ...windows: { cron: string; duration: string }[]) => {
  const cluster = bear({ spec: { maintenanceWindows: windows } });
  cluster.now = Date.parse(time);
  const { isOpen, opensAt } = readWindows(cluster.snapshot());
  return { isOpen, opensAt: opensAt === undefined ? undefined : new Date(opensAt).toISOString() };
};

describe('a maintenance window', () => {
  const nightly = { cron: '0 22 * * *', duration: '4h' };

  it('is open from its time on for its duration, over midnight too', () => {
    expect(at('2026-11-15T21:59:59Z', nightly).isOpen).toBe(false);
    expect(at('2026-11-15T22:00:00Z', nightly).isOpen).toBe(true);
    expect(at('2026-11-16T01:59:59Z', nightly).isOpen).toBe(true);
    expect(at('2026-11-16T02:00:00Z', nightly).isOpen).toBe(false);
  });

  it('tells when the next of several opens', () => {
    const noon = { cron: '0 12 * * 1', duration: '1h' };
    expect(at('2026-11-16T03:00:00Z', nightly, noon)).toEqual({ isOpen: false, opensAt: '2026-11-16T12:00:00.000Z' });
  });

  it('that never opens is told apart from none at all', () => {
    expect(at('2026-11-16T03:00:00Z', { cron: '0 0 30 2 *', duration: '1h' })).toEqual({
      isOpen: false,
      opensAt: undefined,
    });
    expect(at('2026-11-16T03:00:00Z').isOpen).toBe(true);
  });
});
