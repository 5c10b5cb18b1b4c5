import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GapMeter } from './gap-meter.ts';

describe('the longest gap', () => {
  test('is the longest time between two acknowledged writes, the start or the end', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(10_000), { minLength: 1 }), (gaps) => {
        const meter = new GapMeter(0);
        let now = 0;
        for (const gap of gaps) meter.tick((now += gap));
        expect(meter.read(now)).toEqual([Math.max(...gaps)]);
      }),
    );
  });

  test('grows while nothing is acknowledged', () => {
    const meter = new GapMeter(100);
    expect(meter.read(150)).toEqual([50]);
    expect(meter.read(350)).toEqual([250]);
  });

  test('is told apart by phase, and belongs to the phase in which it ended', () => {
    const meter = new GapMeter(0);
    meter.tick(10);
    meter.startPhase();
    meter.tick(510);
    meter.startPhase();
    meter.tick(530);
    expect(meter.read(540)).toEqual([10, 500, 20]);
  });
});
