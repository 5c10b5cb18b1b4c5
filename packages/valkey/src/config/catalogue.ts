import { compareReleaseLines, type ValkeyVersion } from '../version.ts';
import { releaseLines, settings } from './catalogue-data.ts';
import { defaults } from './default-values.ts';
import { isOwnedSetting } from './owned-settings.ts';

/**
 * What a version makes of a setting: `mutable` can be set while the server runs, `immutable` takes a restart,
 * `unknown` would keep the server from starting, `owned` is not for users whatever the version.
 */
export type SettingClass = 'mutable' | 'immutable' | 'unknown' | 'owned';

/**
 * How to treat a setting from spec.config. A line between two of the catalogue is judged by the worse of its
 * neighbours, since lines add settings and (sanitize-dump-payload in 9.x) drop them: this may refuse or restart too
 * much, never too little. A newer line is judged by the newest known; of an older one nothing is known.
 */
export function classifySetting(version: ValkeyVersion, name: string): SettingClass {
  return isOwnedSetting(name) ? 'owned' : lookUp(version, name);
}

/** Whether a server of that version starts with the setting; for our own settings, which are all owned. */
export function knowsSetting(version: ValkeyVersion, name: string): boolean {
  return lookUp(version, name) !== 'unknown';
}

/** Whether CONFIG SET of our own setting is possible in that version. */
export function canSetLive(version: ValkeyVersion, name: string): boolean {
  return lookUp(version, name) === 'mutable';
}

/** What the setting is in that version when nobody sets it, as CONFIG GET writes it; undefined where that is not known. */
export function defaultOfSetting(version: ValkeyVersion, name: string): string | undefined {
  const key = name.toLowerCase();
  if (lookUp(version, key) === 'unknown') return undefined;
  const values = defaults[key] ?? [];
  const { before } = findNeighbours(version);
  return values.length === 1 ? values[0] : values[before];
}

/** Every setting of some version that users may give. */
export function listSettings(): string[] {
  return Object.keys(settings).filter((name) => !isOwnedSetting(name));
}

function lookUp(version: ValkeyVersion, name: string): 'mutable' | 'immutable' | 'unknown' {
  const key = name.toLowerCase();
  const letters = Object.hasOwn(settings, key) ? settings[key] : undefined;
  const { before, after } = findNeighbours(version);
  if (letters === undefined || before === -1) return 'unknown';
  const judged = [letters[before], after === -1 ? letters[before] : letters[after]];
  if (judged.includes('-')) return 'unknown';
  return judged.includes('i') ? 'immutable' : 'mutable';
}

/** The lines of the catalogue around a version: both are the same where it is one of them. */
function findNeighbours(version: ValkeyVersion): { readonly before: number; readonly after: number } {
  const distances = releaseLines.map((line) => compareReleaseLines(parseLine(line), version));
  return {
    before: distances.findLastIndex((distance) => distance <= 0),
    after: distances.findIndex((distance) => distance >= 0),
  };
}

function parseLine(line: string): ValkeyVersion {
  const [major, minor] = line.split('.');
  return { major: Number(major), minor: Number(minor), patch: 0 };
}
