import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

const files = String(spawnSync('git', ['ls-files', '-z'], { cwd: root }).stdout)
  .split('\0')
  .filter((path) => path && statSync(join(root, path), { throwIfNoEntry: false })?.isFile());

/** This file spells out what it forbids. */
const searched = files.filter((path) => join(root, path) !== import.meta.filename);

/** Files whose text matches, as `path: what was found`. */
function findText(pattern: RegExp, paths = searched): string[] {
  return paths.flatMap((path) => {
    const match = pattern.exec(readFileSync(join(root, path), 'utf8'));
    return match ? [`${path}: ${match[0]}`] : [];
  });
}

describe('what is committed', () => {
  test('is known to git', () => {
    expect(files).toContain('package-lock.json');
  });

  test('names no package registry, so that everyone installs from their own', () => {
    expect(findText(/registry\.npmjs\.org|proxy\.golang\.org|"resolved": "http/)).toEqual([]);
  });

  test('names no place that exists on one machine only', () => {
    // At the begin of a path: `/proc/1/root/` is everywhere.
    expect(findText(/(?<![\w}])\/(work\/(main|shared)\b|root\/|home\/[a-z])/)).toEqual([]);
  });

  test('switches no rule off in a comment', () => {
    const sources = searched.filter((path) => path.endsWith('.ts'));
    expect(findText(/(ox|es)lint-disable|@ts-(ignore|nocheck|expect-error)|knip-ignore/, sources)).toEqual([]);
  });
});

describe('the lockfile', () => {
  interface Manifest {
    dependencies?: Record<string, string>;
    devDependencies?: Record<string, string>;
    optionalDependencies?: Record<string, string>;
  }
  const { packages: locked } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Manifest>;
  };
  const manifests = globSync(['package.json', 'packages/*/package.json', 'tests/package.json'], { cwd: root });
  const dependenciesOf = (manifest: Manifest | undefined) => ({
    ...manifest?.dependencies,
    ...manifest?.devDependencies,
    ...manifest?.optionalDependencies,
  });

  test.for(manifests)('locks what %s asks for, in the exact version', (path) => {
    const asked = dependenciesOf(JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest);
    expect(dependenciesOf(locked[path === 'package.json' ? '' : dirname(path)])).toEqual(asked);
    for (const version of Object.values(asked)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  });
});
