import { readFileSync } from 'node:fs';

/** Release lines whose settings were read from the running server: CONFIG GET *, and a CONFIG SET of each. */
const releaseLines = ['8.0', '8.1', '9.1'];

export const catalogueFile = new URL('../src/config/catalogue-data.ts', import.meta.url);
export const defaultsFile = new URL('../src/config/default-values.ts', import.meta.url);

/** Names with their values; of a list of names alone the values are empty. */
function readSettings(file: string): Map<string, string> {
  const text = readFileSync(new URL(`../data/${file}.txt`, import.meta.url), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  return new Map(
    lines.map((line) => {
      const [name = '', ...words] = line.split(' ');
      return [name, words.join(' ')];
    }),
  );
}

const lines = releaseLines.map((line) => ({
  known: readSettings(`configs-${line}`),
  immutable: readSettings(`immutable-${line}`),
}));
const names = [...new Set(lines.flatMap(({ known }) => [...known.keys()]))].toSorted();
const NOTE = '// Made by scripts/generate-config-catalogue.ts from data/*.txt. Do not edit.';

function renderTable(valueOf: (name: string) => string): string {
  const key = (name: string) => (/^[a-z_]+$/.test(name) ? name : `'${name}'`);
  return `{\n${names.map((name) => `  ${key(name)}: ${valueOf(name)},`).join('\n')}\n};\n`;
}

/** The catalogue as TypeScript, so that the pure planner and the bundled sidecar have it without reading a file. */
export function renderCatalogue(): string {
  const letter = (name: string, line: (typeof lines)[number]) => {
    if (!line.known.has(name)) return '-';
    return line.immutable.has(name) ? 'i' : 'm';
  };
  return `${NOTE}

export const releaseLines = [${releaseLines.map((line) => `'${line}'`).join(', ')}] as const;

/** A letter per release line: m mutable at run time, i immutable, - does not exist. */
export const settings: Readonly<Record<string, string>> = ${renderTable((name) => `'${lines.map((line) => letter(name, line)).join('')}'`)}`;
}

export function renderDefaults(): string {
  const valuesOf = (name: string) => {
    const values = lines.flatMap(({ known }) => known.get(name) ?? []);
    const isSteady = values.every((value) => value === values[0]);
    const written = isSteady ? values.slice(0, 1) : lines.map(({ known }) => known.get(name) ?? '');
    return `[${written.map((value) => `'${value}'`).join(', ')}]`;
  };
  return `${NOTE}

/** What a setting is when nobody sets it: for all release lines, or one value per line. */
export const defaults: Readonly<Record<string, readonly string[]>> = ${renderTable(valuesOf)}`;
}
