import { parseMemorySize } from './memory-size.ts';

/** Whether two values mean the same to Valkey: it reads "64mb" and answers 67108864. */
export function isSameValue(name: string, one: string, other: string): boolean {
  return canonicalValue(name, one) === canonicalValue(name, other);
}

/** A value as it would be if everybody wrote it the same way. A text that is canonical already stays as it is. */
export function canonicalValue(name: string, value: string): string {
  const special = specials[name.toLowerCase()];
  return special ? special(value) : words(value).map(canonicalWord).join(' ');
}

/** What to tell a server so that it runs with just this, whatever it runs with now: of classes that are not named it keeps the limits. */
export function completeValue(name: string, value: string): string {
  const isLimits = name.toLowerCase() === BUFFER_LIMITS && words(value).length % 4 === 0;
  return isLimits ? canonicalBufferLimits(value) : value;
}

const BUFFER_LIMITS = 'client-output-buffer-limit';

const specials: Readonly<Record<string, (value: string) => string>> = {
  [BUFFER_LIMITS]: canonicalBufferLimits,
  'notify-keyspace-events': canonicalEventFlags,
  'proc-title-template': (value) => value,
  // Two words for one thing; CONFIG GET answers with the first.
  'oom-score-adj': (value) => (value.toLowerCase() === 'relative' ? 'yes' : value.toLowerCase()),
};

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** Numbers and sizes as the number they are, yes/no and the names of choices in lower case. */
function canonicalWord(word: string): string {
  const bytes = parseMemorySize(word);
  if (bytes !== undefined) return String(bytes);
  return /^-?\d+(\.\d+)?$/.test(word) ? String(Number(word)) : word.toLowerCase();
}

const BUFFER_LIMIT_DEFAULTS = 'normal 0 0 0 replica 268435456 67108864 60 pubsub 33554432 8388608 60';

/** Classes that are left out are to have what Valkey gives them. */
function canonicalBufferLimits(value: string): string {
  const limits = new Map<string, string>();
  for (const text of [BUFFER_LIMIT_DEFAULTS, value]) {
    const given = words(text).map(canonicalWord);
    for (let at = 0; at < given.length; at += 4)
      limits.set(given[at] === 'slave' ? 'replica' : given[at]!, given.slice(at + 1, at + 4).join(' '));
  }
  return Array.from(limits, ([name, limit]) => `${name} ${limit}`).join(' ');
}

/** Flags in any order; A stands for all classes but m (missed keys) and n (new keys). */
function canonicalEventFlags(value: string): string {
  const flags = new Set(value.replaceAll('A', 'g$lshzxetd'));
  return [...flags].toSorted().join('');
}
