import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextFiring } from './cron.ts';

const next = (line: string, after: string) => {
  const time = nextFiring(line, Date.parse(after));
  return time === undefined ? undefined : new Date(time).toISOString();
};

describe('a cron line', () => {
  it.each([
    ['0 4 * * *', '2026-11-15T03:59:59Z', '2026-11-15T04:00:00.000Z'],
    ['0 4 * * *', '2026-11-15T04:00:00Z', '2026-11-16T04:00:00.000Z'],
    ['*/15 * * * *', '2026-11-15T04:01:00Z', '2026-11-15T04:15:00.000Z'],
    ['5/20 * * * *', '2026-11-15T04:06:00Z', '2026-11-15T04:25:00.000Z'],
    ['0 4 * * 6,0', '2026-11-16T00:00:00Z', '2026-11-21T04:00:00.000Z'],
    ['0 4 * * 7', '2026-11-16T00:00:00Z', '2026-11-22T04:00:00.000Z'],
    ['30 22-23 * * Mon-Fri', '2026-11-14T00:00:00Z', '2026-11-16T22:30:00.000Z'],
    ['0 0 31 * *', '2026-11-15T00:00:00Z', '2026-12-31T00:00:00.000Z'],
    ['0 0 1 JAN *', '2026-11-15T00:00:00Z', '2027-01-01T00:00:00.000Z'],
    ['0 0 29 2 *', '2097-01-01T00:00:00Z', '2104-02-29T00:00:00.000Z'],
    ['0 0 13 * 5', '2026-11-15T00:00:00Z', '2026-11-20T00:00:00.000Z'],
  ])('%s fires after %s at %s', (line, after, expected) => {
    expect(next(line, after)).toBe(expected);
  });

  it('that names a day which its months do not have never fires', () => {
    expect(next('0 0 30 2 *', '2026-11-15T00:00:00Z')).toBeUndefined();
    expect(next('0 0 31 4,jun,9,11 *', '2026-11-15T00:00:00Z')).toBeUndefined();
  });

  it('fires strictly later, and nothing fires in between', () => {
    const line = fc
      .tuple(fc.nat(59), fc.nat(23), fc.integer({ min: 1, max: 28 }), fc.integer({ min: 1, max: 12 }), fc.nat(6))
      .chain(([minute, hour, day, month, weekday]) =>
        fc.constantFrom(
          `${minute} * * * *`,
          `${minute} ${hour} * * ${weekday}`,
          `${minute} ${hour} ${day} ${month} *`,
          `${minute}/7 ${hour}-23 * ${month} *`,
        ),
      );
    fc.assert(
      fc.property(line, fc.integer({ min: 0, max: 4_000_000_000_000 }), (cron, after) => {
        const first = nextFiring(cron, after)!;
        expect(first).toBeGreaterThan(after);
        expect(nextFiring(cron, first - 1)).toBe(first);
        expect(nextFiring(cron, Math.floor((after + first) / 2))).toBe(first);
      }),
      { numRuns: 50 },
    );
  });
});
