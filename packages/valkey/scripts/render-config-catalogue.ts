import { readFileSync } from 'node:fs';

/** Release lines whose settings were read from the running server: CONFIG GET *, and a CONFIG SET of each. */
const releaseLines = ['8.0', '8.1', '9.1'];

export const catalogueFile = new URL('../src/config/catalogue-data.ts', import.meta.url);

function readNames(file: string): Set<string> {
  const text = readFileSync(new URL(`../data/${file}.txt`, import.meta.url), 'utf8');
  return new Set(
    text
      .split('\n')
      .map((line) => line.split(' ')[0] ?? '')
      .filter((name) => name !== ''),
  );
}

/** The catalogue as TypeScript, so that the pure planner and the bundled sidecar have it without reading a file. */
export function renderCatalogue(): string {
  const lines = releaseLines.map((line) => ({
    known: readNames(`configs-${line}`),
    immutable: readNames(`immutable-${line}`),
  }));
  const names = [...new Set(lines.flatMap(({ known }) => [...known]))].toSorted();
  const letter = (name: string, line: (typeof lines)[number]) => {
    if (!line.known.has(name)) return '-';
    return line.immutable.has(name) ? 'i' : 'm';
  };
  return `// Made by scripts/generate-config-catalogue.ts from data/*.txt. Do not edit.

export const releaseLines = [${releaseLines.map((line) => `'${line}'`).join(', ')}] as const;

/** A letter per release line: m mutable at run time, i immutable, - does not exist. */
export const settings: Readonly<Record<string, string>> = {
${names.map((name) => `  ${/^[a-z_]+$/.test(name) ? name : `'${name}'`}: '${lines.map((line) => letter(name, line)).join('')}',`).join('\n')}
};
`;
}
