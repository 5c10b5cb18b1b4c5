import { describe, expect, test } from 'vitest';
import { quietLog } from '../testing/builders.ts';
import { heedEpochClaims } from './epoch-claims.ts';

const pod = { namespace: 'apps', cluster: 'demo', pod: 'demo-0' };

describe('a sidecar that has seen a later leader', () => {
  test('makes this process continue above what was seen', () => {
    const surpassed: number[] = [];
    heedEpochClaims({ surpass: (epoch) => surpassed.push(epoch) > 0 }, quietLog)(12n, pod);
    expect(surpassed).toEqual([12]);
  });

  test('cannot keep it in elections: one claim is heeded in ten minutes', () => {
    let now = 0;
    const surpassed: number[] = [];
    const claim = heedEpochClaims({ surpass: (epoch) => surpassed.push(epoch) > 0 }, quietLog, () => now);
    for (const minute of [0, 1, 9, 10, 11]) {
      now = minute * 60_000;
      claim(BigInt(minute), pod);
    }
    expect(surpassed).toEqual([0, 10]);
  });
});
