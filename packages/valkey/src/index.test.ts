import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** Every module that `entry` imports, directly or not, types included. */
function listImports(entry: URL, seen = new Set<string>()): Set<string> {
  for (const [, specifier = ''] of readFileSync(entry, 'utf8').matchAll(/(?: from |^import |import\()'([^']+)'/gm)) {
    const module = specifier.startsWith('.') ? new URL(specifier, entry).href : specifier;
    if (seen.has(module)) continue;
    seen.add(module);
    if (specifier.startsWith('.')) listImports(new URL(module), seen);
  }
  return seen;
}

describe('the entry point', () => {
  it('imports nothing that does I/O, so that the pure planner may import it', () => {
    const modules = [...listImports(new URL('index.ts', import.meta.url))];
    expect(modules.length).toBeGreaterThan(15);
    expect(modules.filter((module) => !module.startsWith('file:') || module.includes('/connection/'))).toEqual([]);
  });
});
