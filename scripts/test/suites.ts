/** A check is one command that is right or wrong; a vitest suite counts its tests. */
export type Suite =
  | { kind: 'check'; name: string; command: string[]; remedy?: string }
  | { kind: 'vitest'; name: string; project: string; filters: string[] };

/** Everything that `make test` means, in the order it runs: what fails fastest goes first. */
export const suites: Suite[] = [
  { kind: 'check', name: 'format', command: ['oxfmt', '--check', '.'], remedy: 'make format' },
  { kind: 'check', name: 'lint', command: ['oxlint'] },
  { kind: 'check', name: 'types', command: ['tsc', '-p', 'tsconfig.json'] },
  { kind: 'check', name: 'dead-code', command: ['knip'] },
  { kind: 'check', name: 'generated', command: ['node', 'scripts/generate.ts', '--check'], remedy: 'make generate' },
  { kind: 'vitest', name: 'unit', project: 'unit', filters: words(process.env.UNIT) },
  { kind: 'vitest', name: 'e2e', project: 'e2e', filters: words(process.env.E2E) },
];

/** Names a person types, each standing for one or more suites. */
const groups: Record<string, string[]> = {
  all: suites.map((suite) => suite.name),
  static: ['format', 'lint', 'types', 'dead-code'],
  verify: ['generated'],
};

/** Resolve the names on the command line; an unknown one is an error that lists what there is. */
export function selectSuites(names: string[]): Suite[] {
  const wanted = new Set((names.length > 0 ? names : ['all']).flatMap((name) => groups[name] ?? [name]));
  const known = new Set(suites.map((suite) => suite.name));
  const unknown = [...wanted].filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new Error(`no suite "${unknown.join('", "')}": there is ${[...known, ...Object.keys(groups)].join(', ')}`);
  }
  return suites.filter((suite) => wanted.has(suite.name));
}

function words(text = ''): string[] {
  return text.split(/\s+/).filter(Boolean);
}
