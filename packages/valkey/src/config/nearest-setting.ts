import type { ValkeyVersion } from '../version.ts';
import { classifySetting, listSettings } from './catalogue.ts';

/** More wrong letters than this, and it is another word. */
const MAX_DISTANCE = 3;

/** The setting of that version that somebody who wrote this name will have meant. */
export function nearestSetting(version: ValkeyVersion, name: string): string | undefined {
  const isUsable = (candidate: string) => ['mutable', 'immutable'].includes(classifySetting(version, candidate));
  const ranked = listSettings()
    .filter(isUsable)
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate) }))
    .toSorted((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  const [nearest] = ranked;
  return nearest && nearest.distance <= MAX_DISTANCE ? nearest.candidate : undefined;
}

/** Letters to add, drop, replace or swap with their neighbour (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const replaced = last[j - 1]! + (isSame ? 0 : 1);
      const swapped = isSwap ? beforeLast[j - 2]! + 1 : Infinity;
      row.push(Math.min(last[j]! + 1, row[j - 1]! + 1, replaced, swapped));
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length]!;
}
