import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { catalogueFile, defaultsFile, renderCatalogue, renderDefaults } from '../../scripts/render-config-catalogue.ts';
import { parseVersion, type ValkeyVersion } from '../version.ts';
import { settings } from './catalogue-data.ts';
import { canSetLive, classifySetting, knowsSetting } from './catalogue.ts';
import { splitConfLine } from './conf-quoting.ts';
import { parseMemorySize } from './memory-size.ts';
import { isOwnedSetting, ownedSettings } from './owned-settings.ts';
import { parseConf, renderConf } from './render-conf.ts';
import { formatSaveRules, parseSaveRules } from './save-rules.ts';

const v = (text: string): ValkeyVersion => parseVersion(text) ?? { major: 0, minor: 0, patch: 0 };

describe('the catalogue', () => {
  it('is what its data say', () => {
    expect(readFileSync(catalogueFile, 'utf8')).toBe(renderCatalogue());
    expect(readFileSync(defaultsFile, 'utf8')).toBe(renderDefaults());
  });
});

describe('classifySetting', () => {
  it.each([
    ['8.0.1', 'maxmemory-policy', 'mutable'],
    ['8.0.1', 'io-threads', 'immutable'],
    ['8.1.1', 'io-threads', 'immutable'],
    ['9.1.2', 'io-threads', 'mutable'],
    ['9.0.7', 'io-threads', 'immutable'],
    ['10.0.0', 'io-threads', 'mutable'],
    ['8.1.1', 'sanitize-dump-payload', 'mutable'],
    ['9.0.7', 'sanitize-dump-payload', 'unknown'],
    ['8.0.1', 'hash-seed', 'unknown'],
    ['9.1.2', 'hash-seed', 'immutable'],
    ['7.2.4', 'maxmemory-policy', 'unknown'],
    ['9.1.2', 'no-such-setting', 'unknown'],
    ['9.1.2', 'toString', 'unknown'],
    ['8.0.1', 'tls-auto-reload-interval', 'owned'],
    ['9.1.2', 'PORT', 'owned'],
    ['9.1.2', 'unixsocketperm', 'owned'],
    ['9.1.2', 'loadmodule', 'owned'],
    ['9.1.2', 'slaveof', 'owned'],
  ])('in %s takes %s for %s', (version, name, expected) => {
    expect(classifySetting(v(version), name)).toBe(expected);
  });

  it('owns every way in which a setting reads a file, loads code, or renames a command', () => {
    for (const name of ['include', 'loadmodule', 'dir', 'dbfilename', 'aclfile', 'logfile', 'rename-command', 'user']) {
      expect(isOwnedSetting(name)).toBe(true);
    }
  });

  it('owns the old name of a setting with the new one', () => {
    const renamed = Object.keys(settings)
      .flatMap((name) => [
        { name, old: name.replace('replica', 'slave') },
        { name, old: name.replace('primary', 'master') },
      ])
      .filter(({ name, old }) => name !== old && Object.hasOwn(settings, old));
    expect(renamed.length).toBeGreaterThan(10);
    expect(renamed.filter(({ name, old }) => isOwnedSetting(name) !== isOwnedSetting(old))).toEqual([]);
  });

  it('owns only what is a setting of some version, or a directive that CONFIG GET does not list', () => {
    const directives = ['include', 'loadmodule', 'rename-command', 'user'];
    const matches = (pattern: string) => (name: string) =>
      pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
    const strangers = ownedSettings.filter((pattern) => !Object.keys(settings).some(matches(pattern)));
    expect(strangers.toSorted()).toEqual(directives);
  });
});

describe('our own settings', () => {
  it('are gated by the version that runs', () => {
    expect(knowsSetting(v('8.0.1'), 'tls-auto-reload-interval')).toBe(false);
    expect(knowsSetting(v('9.1.2'), 'tls-auto-reload-interval')).toBe(true);
  });

  it('are set live where the version can', () => {
    expect(canSetLive(v('8.0.1'), 'tls-cert-file')).toBe(true);
    expect(canSetLive(v('8.0.1'), 'cluster-port')).toBe(false);
  });
});

const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/);
const text = fc.string({ unit: 'grapheme' }).filter((value) => !/[\n\r\0]/.test(value));

describe('renderConf', () => {
  it('makes a file that reads back as the same settings, whatever is in the values', () => {
    fc.assert(
      fc.property(fc.dictionary(name, text), (values) => {
        expect(new Map(parseConf(renderConf(values))?.map(([key, ...rest]) => [key, rest]))).toEqual(
          new Map(Object.entries(values).map(([key, value]) => [key, [value]])),
        );
      }),
    );
  });

  it('writes one line per setting, sorted, and quotes only where it must', () => {
    expect(
      renderConf({ save: '', port: 6379, appendonly: true, requirepass: 'a b"c\\', 'cluster-announce-hostname': 'é' }),
    ).toBe('appendonly yes\ncluster-announce-hostname "\\xc3\\xa9"\nport 6379\nrequirepass "a b\\"c\\\\"\nsave ""\n');
  });

  it.each(['a\nport 1', 'a\rb', 'a\0b'])('refuses the value %j', (value) => {
    expect(() => renderConf({ requirepass: value })).toThrow('no line break');
  });

  it.each(['', 'two words', '# comment', 'a\nb', '"port"', 'Port', '-x'])('refuses the name %j', (bad) => {
    expect(() => renderConf({ [bad]: '1' })).toThrow('not the name of a setting');
  });
});

describe('splitConfLine', () => {
  it.each([
    ['save 3600 1', ['save', '3600', '1']],
    ['  a\tb  ', ['a', 'b']],
    ['a "b c" d', ['a', 'b c', 'd']],
    ["a 'b \\' \\n'", ['a', "b ' \\n"]],
    ['a "\\x41\\n\\q\\xZZ"', ['a', 'A\nqxZZ']],
    ['a b"c d"', ['a', 'bc d']],
    ['a ""', ['a', '']],
    ['', []],
  ])('reads %j', (line, words) => {
    expect(splitConfLine(line)).toEqual(words);
  });

  it.each(['a "b', "a 'b", 'a "b"c', `a 'b'c`, 'a "b\\'])('finds the quotes unbalanced in %j', (line) => {
    expect(splitConfLine(line)).toBeUndefined();
  });
});

describe('parseMemorySize', () => {
  it.each([
    ['100', 100],
    ['64mb', 67_108_864],
    ['64MB', 67_108_864],
    ['64m', 64_000_000],
    ['1gb', 1_073_741_824],
    ['1k', 1000],
    ['5b', 5],
  ])('reads %j as %i', (size, bytes) => {
    expect(parseMemorySize(size)).toBe(bytes);
  });

  it.each(['', 'mb', '-1', '1.5gb', '1tb', '1 gb', '9999999999gb'])('does not read %j', (size) => {
    expect(parseMemorySize(size)).toBeUndefined();
  });
});

describe('save rules', () => {
  it('read back what is formatted', () => {
    const rule = fc.record({
      seconds: fc.integer({ min: 1, max: 999_999 }),
      changes: fc.integer({ min: 0, max: 999_999 }),
    });
    fc.assert(
      fc.property(fc.array(rule), (rules) => {
        expect(parseSaveRules(formatSaveRules(rules))).toEqual(rules);
      }),
    );
  });

  it.each(['3600', '0 1', '-1 5', 'a b'])('does not read %j', (rules) => {
    expect(parseSaveRules(rules)).toBeUndefined();
  });
});
