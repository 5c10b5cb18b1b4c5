import { quoteConfWord, splitConfLine, UnsafeConfTextError } from './conf-quoting.ts';

/**
 * Settings by name. A text is one argument; Valkey splits it itself where a setting takes several ("save", "bind",
 * "client-output-buffer-limit"), so what CONFIG GET answers can be given as it is.
 */
export type ConfSettings = Readonly<Record<string, string | number | boolean>>;

/** A name that cannot be taken for a comment, for quotes or for two words. */
const settingName = /^[a-z][a-z0-9_-]*$/;

/** valkey.conf, sorted by name so that equal settings make equal files. */
export function renderConf(settings: ConfSettings): string {
  return Object.entries(settings)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${checkName(name)} ${quoteConfWord(formatValue(value))}\n`)
    .join('');
}

/** The lines of a valkey.conf as words; undefined where Valkey would refuse to start for its quoting. */
export function parseConf(text: string): string[][] | undefined {
  const lines: string[][] = [];
  for (const line of text.split('\n').map((each) => each.replaceAll(/^[ \t\r]+|[ \t\r]+$/g, ''))) {
    if (line === '' || line.startsWith('#')) continue;
    const words = splitConfLine(line);
    if (words === undefined) return undefined;
    lines.push(words);
  }
  return lines;
}

function formatValue(value: string | number | boolean): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value);
}

function checkName(name: string): string {
  if (settingName.test(name)) return name;
  throw new UnsafeConfTextError(`not the name of a setting: ${JSON.stringify(name.slice(0, 64))}`);
}
