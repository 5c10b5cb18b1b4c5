const SHOWN = 5;

/** At most five names: a status is no list of pods. */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN).join(', ');
  return names.length > SHOWN ? `${shown} and ${names.length - SHOWN} more` : shown;
}
