import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settings } from './catalogue-data.ts';
import { canonicalValue, isSameValue } from './same-value.ts';

describe('two values are the same', () => {
  it.each([
    ['maxmemory', '64mb', '67108864'],
    ['maxmemory', '1G', '1000000000'],
    ['maxmemory-clients', '5%', '5%'],
    ['activedefrag', 'YES', 'yes'],
    ['maxmemory-policy', 'AllKeys-LRU', 'allkeys-lru'],
    ['save', '3600 1  300 100', '3600 1 300 100'],
    ['notify-keyspace-events', 'KEA', 'AKE'],
    ['notify-keyspace-events', 'KEg$lshzxetd', 'AKE'],
    ['oom-score-adj', 'relative', 'yes'],
    ['latency-tracking-info-percentiles', '50 99.0 99.9', '50 99 99.9'],
    [
      'client-output-buffer-limit',
      'replica 256mb 64mb 60',
      'normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60',
    ],
  ])('of %s: %s and %s', (name, one, other) => {
    expect(isSameValue(name, one, other)).toBe(true);
  });

  it.each([
    ['maxmemory', '64mb', '64m'],
    ['maxmemory-clients', '5%', '5'],
    ['save', '3600 1', '3600 10'],
    ['notify-keyspace-events', 'KEA', 'KE'],
    ['proc-title-template', '{title}', '{TITLE}'],
    ['client-output-buffer-limit', 'normal 1mb 1mb 60', 'normal 0 0 0'],
  ])('or not, of %s: %s and %s', (name, one, other) => {
    expect(isSameValue(name, one, other)).toBe(false);
  });

  it('when they are canonical already', () => {
    const name = fc.constantFrom(...Object.keys(settings));
    const value = fc.oneof(
      fc.string(),
      fc.integer().map(String),
      fc.constantFrom('64mb', 'YES', '5%', 'normal 0 0 0', 'KEA', '1.50', '3600 1 60 100'),
    );
    fc.assert(
      fc.property(name, value, (setting, text) => {
        const once = canonicalValue(setting, text);
        expect(canonicalValue(setting, once)).toBe(once);
      }),
    );
  });
});
