import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canLoadFilesOf, hasFeature } from './features.ts';
import {
  compareVersions,
  formatVersion,
  isSupportedVersion,
  parseVersion,
  type ValkeyVersion,
  versionOfImageTag,
} from './version.ts';

const version = fc.record({ major: fc.nat(99), minor: fc.nat(99), patch: fc.nat(99) });
const v = (text: string): ValkeyVersion => {
  const parsed = parseVersion(text);
  if (parsed === undefined) throw new Error(`no version: ${text}`);
  return parsed;
};

describe('parseVersion', () => {
  it('reads back what is formatted', () => {
    fc.assert(
      fc.property(version, (value) => {
        expect(parseVersion(formatVersion(value))).toEqual(value);
      }),
    );
  });

  it.each(['', '8', 'latest', '8.0.1.2', '8.0.', '8.x', '8.0.1-rc1'])('does not take %j for a version', (text) => {
    expect(parseVersion(text)).toBeUndefined();
  });
});

describe('versionOfImageTag', () => {
  it.each([
    ['8.1', '8.1.0'],
    ['8.10', '8.10.0'],
    ['8.1.1-alpine3.22', '8.1.1'],
    ['v9.1.2', '9.1.2'],
    ['9.1.0-rc1', '9.1.0'],
  ])('reads %j as %s', (tag, expected) => {
    expect(versionOfImageTag(tag)).toEqual(v(expected));
  });

  it.each(['latest', '8', '8-alpine', 'unstable', '8.1.1.1', 'alpine-8.1', ''])(
    'finds no release line in %j',
    (tag) => {
      expect(versionOfImageTag(tag)).toBeUndefined();
    },
  );
});

describe('compareVersions', () => {
  it('orders numbers as numbers', () => {
    const sorted = ['9.1.2', '8.10.0', '8.1.1', '8.0.1', '8.1.10'].map(v).toSorted(compareVersions).map(formatVersion);
    expect(sorted).toEqual(['8.0.1', '8.1.1', '8.1.10', '8.10.0', '9.1.2']);
  });

  it('is a total order', () => {
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(Math.sign(compareVersions(a, b))).toBe(0 - Math.sign(compareVersions(b, a)));
        expect(compareVersions(a, b) === 0).toBe(formatVersion(a) === formatVersion(b));
      }),
    );
  });
});

describe('features', () => {
  it.each([
    ['atomicSlotMigration', '8.1.9', false],
    ['atomicSlotMigration', '9.0.0', true],
    ['tlsAutoReload', '9.0.7', false],
    ['tlsAutoReload', '9.1.0', true],
    ['databaseAcl', '10.0.0', true],
  ] as const)('knows whether %s is in %s', (feature, text, expected) => {
    expect(hasFeature(v(text), feature)).toBe(expected);
  });

  it('supports 8.0 and later', () => {
    expect(isSupportedVersion(v('7.2.11'))).toBe(false);
    expect(isSupportedVersion(v('8.0.0'))).toBe(true);
  });
});

describe('canLoadFilesOf', () => {
  it.each([
    ['9.1.2', '8.0.1', true],
    ['8.0.1', '8.1.1', true],
    ['8.1.1', '9.1.2', false],
    ['9.0.0', '9.1.2', true],
    ['9.1.2', '10.0.0', false],
    ['10.0.0', '10.0.1', true],
  ])('says whether %s loads what %s wrote', (reader, writer, expected) => {
    expect(canLoadFilesOf(v(reader), v(writer))).toBe(expected);
  });
});
