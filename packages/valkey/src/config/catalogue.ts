import { compareReleaseLines, parseVersion, type ValkeyVersion } from '../version.ts';
import { releaseLines, settings } from './catalogue-data.ts';
import { isOwnedSetting } from './owned-settings.ts';

/**
 * What a version makes of a setting: `mutable` can be set while the server runs, `immutable` takes a restart,
 * `unknown` would keep the server from starting, `owned` is not for users whatever the version.
 */
export type SettingClass = 'mutable' | 'immutable' | 'unknown' | 'owned';

const catalogues = releaseLines.map((line, index) => ({ version: parseVersion(line), index }));

/**
 * How to treat a setting from spec.config. A line that is not in the catalogue is judged by the newest line before it:
 * lines add settings and make them mutable, so this refuses or restarts too much, never too little. Nothing is known of
 * a version older than the catalogue.
 */
export function classifySetting(version: ValkeyVersion, name: string): SettingClass {
  if (isOwnedSetting(name)) return 'owned';
  const known = lookUp(version, name);
  return known ?? 'unknown';
}

/** Whether a server of that version starts with the setting; for our own settings, which are all owned. */
export function knowsSetting(version: ValkeyVersion, name: string): boolean {
  return lookUp(version, name) !== undefined;
}

/** Whether CONFIG SET of our own setting is possible in that version. */
export function canSetLive(version: ValkeyVersion, name: string): boolean {
  return lookUp(version, name) === 'mutable';
}

function lookUp(version: ValkeyVersion, name: string): 'mutable' | 'immutable' | undefined {
  const line = catalogues.findLast((each) => each.version !== undefined && compareReleaseLines(each.version, version) <= 0);
  const key = name.toLowerCase();
  if (line === undefined || !Object.hasOwn(settings, key)) return undefined;
  switch (settings[key]?.[line.index]) {
    case 'm':
      return 'mutable';
    case 'i':
      return 'immutable';
    default:
      return undefined;
  }
}
