import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFixtures } from '../../packages/api/src/fixtures.ts';
import { kindByName, validate } from '../../packages/api/src/index.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root, exclude: ['docs/reference/**'] }).toSorted();

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

describe('README', () => {
  test('shows the same first cluster as the fixture that runs against the API server', () => {
    const [, yaml] = /```yaml\n([^`]*)```/.exec(read('README.md')) ?? [];
    expect(yaml).toBe(read('packages/api/fixtures/ValkeyCluster/minimal.yaml'));
  });
});

describe('the guides', () => {
  const examples = readFixtures(join(root, 'docs/guides/examples/*.yaml'));
  const known = new Set([...examples, ...readFixtures('ValkeyCluster/minimal.yaml')].map(({ text }) => text));
  const guides = pages.filter((page) => page.startsWith('docs/guides/'));

  test.for(examples)('have a valid example: $name', ({ documents }) => {
    for (const object of documents) expect(validate(kindByName(object.kind)!, object)).toEqual([]);
  });

  test.for(guides)('show only examples that are files: %s', (guide) => {
    const shown = [...read(guide).matchAll(/```yaml\n([^`]*)```/g)].map(([, yaml]) => yaml!);
    expect(shown.filter((yaml) => !known.has(yaml))).toEqual([]);
  });
});

describe('the concept -> source map', () => {
  const map = read('docs/architecture.md').split('## Concept -> source map')[1] ?? '';
  const paths = [...map.matchAll(/`([^`]+)`/g)].map(([, path]) => path!).filter((path) => path.includes('/'));

  test('ends the architecture page', () => {
    expect(paths.length).toBeGreaterThan(10);
    expect(map).not.toContain('\n## ');
  });

  test.for(paths)('names a path that exists: %s', (path) => {
    expect(existsSync(join(root, path))).toBe(true);
  });
});

describe('the page of dependencies', () => {
  test('has a line for each direct dependency, and for nothing else', () => {
    const declared = globSync(['package.json', 'packages/*/package.json', 'tests/package.json'], { cwd: root })
      .map((path) => JSON.parse(read(path)) as Manifest)
      .flatMap((manifest) =>
        Object.keys({ ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }),
      )
      .filter((name) => !name.startsWith('@valkey-operator/'));
    const listed = [...read('docs/dependencies.md').matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name!);
    expect(listed.toSorted()).toEqual([...new Set(declared)].toSorted());
  });
});

describe.for(pages)('%s', (page) => {
  test('links only to files that exist', () => {
    const targets = [...read(page).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target]) => target!);
    const dead = targets
      .filter((target) => !/^https?:/.test(target))
      .filter((target) => !existsSync(join(root, dirname(page), target)));
    expect(dead).toEqual([]);
  });

  test('names only make targets that exist', () => {
    const targets = new Set([...read('Makefile').matchAll(/^([a-z0-9-]+):/gm)].map(([, name]) => name!));
    const named = [...read(page).matchAll(/(?:`|^|\()make ([a-z][a-z0-9-]*)/gm)].map(([, name]) => name!);
    expect(named.filter((name) => !targets.has(name))).toEqual([]);
  });
});
