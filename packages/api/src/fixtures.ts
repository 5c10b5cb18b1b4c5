import { globSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

export interface Fixture {
  /** Path below packages/api/fixtures. */
  readonly name: string;
  readonly text: string;
  /** One object to create, or two to create and then update. */
  readonly documents: readonly FixtureObject[];
  /** The API server's words, sorted; none for what is accepted. */
  readonly expected: readonly string[];
  /** Ours, where we can say more than the API server. */
  readonly expectedOffCluster: readonly string[];
}

export interface FixtureObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: object;
  readonly status?: object;
}

const directory = new URL('../fixtures/', import.meta.url);

/** The sample objects that tests run through the validator and through a real API server. */
export function readFixtures(pattern: string): Fixture[] {
  return globSync(pattern, { cwd: directory }).toSorted().map(readFixture);
}

/** kubectl reads YAML 1.1, in which an unquoted `no` is false: so do we. */
function readFixture(name: string): Fixture {
  const text = readFileSync(new URL(name, directory), 'utf8');
  const documents = parseAllDocuments(text, { version: '1.1' }).map((document) => document.toJS() as FixtureObject);
  const expected = comments(text, 'expect');
  const offCluster = comments(text, 'expect-off-cluster');
  return { name, text, documents, expected, expectedOffCluster: offCluster.length > 0 ? offCluster : expected };
}

function comments(text: string, key: string): string[] {
  const prefix = `# ${key}: `;
  const lines = text.split('\n').filter((line) => line.startsWith(prefix));
  return lines.map((line) => line.slice(prefix.length)).toSorted();
}
