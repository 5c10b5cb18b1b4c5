import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { acceptSupersededUntil, EARLIEST_PERCENT, LATEST_PERCENT, planRotation } from './rotation.ts';

const life = { notBefore: new Date('2026-01-01T00:00:00Z'), notAfter: new Date('2026-01-01T10:00:00Z') };
const percentOf = (moment: Date) =>
  ((moment.getTime() - life.notBefore.getTime()) / (life.notAfter.getTime() - life.notBefore.getTime())) * 100;
const percent = fc.integer({ min: EARLIEST_PERCENT, max: LATEST_PERCENT });

describe('planRotation', () => {
  it('falls between the percentage asked for and 80 % of the life, whoever the owner is', () => {
    fc.assert(
      fc.property(percent, fc.string(), (rotateBeforePercent, seed) => {
        const { rotateAt } = planRotation(life, { rotateBeforePercent }, seed, life.notBefore);
        expect(percentOf(rotateAt)).toBeGreaterThanOrEqual(rotateBeforePercent);
        expect(percentOf(rotateAt)).toBeLessThanOrEqual(LATEST_PERCENT);
      }),
    );
  });

  it('gives an owner the same moment at any time it is asked, and is due from that moment on', () => {
    fc.assert(
      fc.property(fc.string(), fc.date({ noInvalidDate: true }), (seed, now) => {
        const { rotateAt } = planRotation(life, { rotateBeforePercent: 66 }, seed, life.notBefore);
        expect(planRotation(life, { rotateBeforePercent: 66 }, seed, now)).toEqual({ rotateAt, due: now >= rotateAt });
      }),
    );
  });

  it('spreads owners that were born together', () => {
    const moments = Array.from({ length: 1000 }, (_, n) =>
      percentOf(planRotation(life, { rotateBeforePercent: 66 }, `ns/cluster-${n}`, life.notBefore).rotateAt),
    );
    const perPoint = [66, 67, 68, 69, 70].map((from) => moments.filter((at) => at >= from && at < from + 1).length);
    for (const count of perPoint) expect(count).toBeGreaterThan(150);
  });

  it.each([65, 81, Number.NaN])('refuses to rotate at %d %%', (rotateBeforePercent) => {
    expect(() => planRotation(life, { rotateBeforePercent }, 'x', life.notBefore)).toThrow('must be 66..80');
  });
});

describe('acceptSupersededUntil', () => {
  const superseded = { supersededAt: new Date('2026-01-01T07:00:00Z'), notAfter: life.notAfter };

  it('is the end of the grace period', () => {
    expect(acceptSupersededUntil(superseded, 3_600_000)).toEqual(new Date('2026-01-01T08:00:00Z'));
  });

  it('is never later than the end of the certificate', () => {
    expect(acceptSupersededUntil(superseded, 86_400_000)).toEqual(life.notAfter);
  });
});
