/** Snapshot when at least `changes` keys changed within `seconds`. */
export interface SaveRule {
  readonly seconds: number;
  readonly changes: number;
}

/** Reads "3600 1 300 100"; an empty text is no rule, so no snapshots. */
export function parseSaveRules(text: string): SaveRule[] | undefined {
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (words.length % 2 !== 0 || words.some((word) => !/^\d{1,9}$/.test(word))) return undefined;
  const numbers = words.map(Number);
  const rules: SaveRule[] = [];
  for (let at = 0; at < numbers.length; at += 2)
    rules.push({ seconds: numbers[at] ?? 0, changes: numbers[at + 1] ?? 0 });
  // Valkey refuses an interval of no time; no number of changes is allowed, and means "save at every interval".
  return rules.every((rule) => rule.seconds > 0) ? rules : undefined;
}

/** The value of `save`: one word, because several lines would add to each other. */
export function formatSaveRules(rules: readonly SaveRule[]): string {
  return rules.map((rule) => `${rule.seconds} ${rule.changes}`).join(' ');
}
