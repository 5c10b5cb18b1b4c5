import { describe, expect, it } from 'vitest';
import { parseVersion, type ValkeyVersion } from '../version.ts';
import { classifySetting, defaultOfSetting, listSettings } from './catalogue.ts';
import { nearestSetting } from './nearest-setting.ts';
import { checkRestartOnlyValue } from './restart-only-value.ts';

const v = (text: string): ValkeyVersion => parseVersion(text) ?? { major: 0, minor: 0, patch: 0 };

describe('the default of a setting', () => {
  it.each([
    ['9.1.2', 'maxmemory-policy', 'noeviction'],
    ['8.0.1', 'databases', '1'],
    ['9.1.2', 'databases', '16'],
    ['9.9.0', 'databases', '16'],
    ['8.0.1', 'hash-seed', undefined],
    ['9.1.2', 'no-such-setting', undefined],
  ])('in %s of %s is %s', (version, name, value) => {
    expect(defaultOfSetting(v(version), name)).toBe(value);
  });
});

describe('a name that is not known', () => {
  it.each([
    ['maxmemory-polcy', 'maxmemory-policy'],
    ['maxmemroy', 'maxmemory'],
    ['max-memory', 'maxmemory'],
    ['hash_max_listpack_entries', 'hash-max-listpack-entries'],
    ['dynamic-hzz', undefined],
    ['something-else-entirely', undefined],
  ])('%s is close to %s', (name, nearest) => {
    expect(nearestSetting(v('9.1.2'), name)).toBe(nearest);
  });
});

describe('a value that takes a restart', () => {
  it.each([
    ['io-threads', '4'],
    ['databases', '16'],
    ['bgsave-cpulist', '0,2-5'],
    ['bgsave-cpulist', ''],
    ['disable-thp', 'no'],
    ['hash-seed', 'whatever'],
  ])('%s may be %j', (name, value) => {
    expect(checkRestartOnlyValue(name, value)).toBeUndefined();
  });

  it.each([
    ['io-threads', '0', 'must be a whole number from 1 to 128'],
    ['databases', 'many', 'must be a whole number from 1 to 2147483647'],
    ['disable-thp', 'maybe', 'must be yes or no'],
    ['server-cpulist', 'all', 'must be a list of processors such as 0,2-5'],
  ])('%s may not be %j', (name, value, words) => {
    expect(checkRestartOnlyValue(name, value)).toBe(words);
  });

  it('has a rule, unless any text will do', () => {
    const versions = ['8.0.1', '8.1.1', '9.1.2'].map(v);
    const anyText = ['hash-seed'];
    const unruled = listSettings().filter(
      (name) =>
        versions.some((version) => classifySetting(version, name) === 'immutable') &&
        checkRestartOnlyValue(name, '?') === undefined,
    );
    expect(unruled).toEqual(anyText);
  });
});
