import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mayImport } from './import-directions.ts';

const root = resolve(import.meta.dirname, '../..');

const importing = (specifier: string) => `import { thing } from '${specifier}';\nexport const same = thing;\n`;
const exporting = (expression: string) => `export const value = ${expression};\n`;

/** What a file may not hold, and the finding that says so. */
const refused = [
  ['packages/api/src/a.ts', 'api may import no other package', importing('@valkey-operator/core')],
  ['packages/valkey/src/a.ts', 'valkey may import no other package', importing('@valkey-operator/rpc')],
  ['packages/core/src/a.ts', 'core may import api, valkey', importing('@valkey-operator/kube')],
  ['packages/core/src/b.ts', 'core may import api, valkey', importing('@valkey-operator/pki')],
  ['packages/sidecar/src/a.ts', 'sidecar may import', importing('@valkey-operator/kube')],
  ['packages/lab/src/a.ts', 'lab may import', importing('@valkey-operator/operator')],
  ['packages/operator/src/a.ts', 'Import another package by its name', importing('../../kube/src/apply.ts')],
  ['packages/operator/src/b.ts', 'Import another package by its name', importing('../../../sidecar/src/main.ts')],
  ['packages/operator/src/c.ts', 'Only packages/kube talks', importing('@kubernetes/client-node')],
  ['packages/lab/src/b.ts', 'Only packages/kube talks', importing('undici')],
  ['packages/core/src/c.ts', 'core is pure: no I/O', importing('node:fs')],
  ['packages/core/src/d.ts', 'core is pure: no I/O', importing('node:child_process')],
  ['packages/core/src/e.ts', 'core is pure: no I/O', importing('node:timers/promises')],
  ['packages/core/src/f.ts', 'core is pure: take the time from the snapshot', exporting('Date.now()')],
  ['packages/core/src/g.ts', 'core is pure: the same snapshot', exporting('Math.random()')],
  ['packages/core/src/h.ts', 'core is pure: take the time from the snapshot', exporting('new Date()')],
  ['packages/core/src/i.ts', "Unexpected use of 'setTimeout'", exporting('setTimeout(String, 1)')],
  ['packages/core/src/j.ts', "Unexpected use of 'process'", exporting('process.env.HOME')],
  ['packages/core/src/k.ts', "Unexpected use of 'globalThis'", exporting('globalThis.fetch')],
  ['packages/kube/src/a.ts', 'Promises must be awaited', exporting('() => {\n  Promise.resolve();\n}')],
] as const;

const accepted = [
  ['packages/core/src/l.ts', 'an import that the table allows', importing('@valkey-operator/api')],
  [
    'packages/core/src/m.ts',
    'a hash',
    "import { createHash } from 'node:crypto';\nexport const h = createHash('sha256');\n",
  ],
  ['packages/core/src/n.ts', 'a date made from a number', exporting('(ms: number) => new Date(ms).toISOString()')],
  ['packages/core/src/o.test.ts', 'a test that reads a recorded snapshot', importing('node:fs')],
  ['packages/operator/src/d.ts', 'a process that uses the Kubernetes client', importing('@valkey-operator/kube')],
  ['packages/operator/src/e.ts', 'a folder named like a package', importing('./controllers/valkey/index.ts')],
] as const;

interface Diagnostic {
  filename: string;
  code: string;
  message: string;
  help: string;
}

let workspace: string;
let findings: Diagnostic[];

function lint(...paths: string[]): { exitCode: number | null; diagnostics: Diagnostic[] } {
  const oxlint = join(root, 'node_modules/oxlint/bin/oxlint');
  const { status, stdout } = spawnSync(process.execPath, [oxlint, '--format=json', ...paths], { cwd: workspace });
  return { exitCode: status, ...(JSON.parse(String(stdout)) as { diagnostics: Diagnostic[] }) };
}

/** A workspace with our lint configuration and nothing but these files, so that nothing else is there to be found. */
beforeAll(() => {
  workspace = mkdtempSync(join(tmpdir(), 'import-directions-'));
  for (const name of ['oxlint.config.ts', 'scripts/lint', 'tsconfig.json']) {
    cpSync(join(root, name), join(workspace, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(workspace, 'node_modules'));
  for (const [path, , source] of [...refused, ...accepted]) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), source);
  }
  findings = lint('packages').diagnostics;
}, 60_000);

afterAll(() => rmSync(workspace, { recursive: true, force: true }));

describe('the lint configuration', () => {
  test.for(refused)('refuses %s: %s', ([path, reason]) => {
    const texts = findings.filter(({ filename }) => filename === path).map(({ message, help }) => `${message} ${help}`);
    expect(texts).toContainEqual(expect.stringContaining(reason));
  });

  test.for(accepted)('accepts %s: %s', ([path]) => {
    expect(findings.filter(({ filename }) => filename === path)).toEqual([]);
  });

  test('fails the build for a single wrong import', () => {
    expect(lint('packages/core/src/a.ts').exitCode).not.toBe(0);
    expect(lint('packages/core/src/l.ts').exitCode).toBe(0);
  }, 60_000);
});

describe('the table of import directions', () => {
  test('has a row for every package', () => {
    expect(readdirSync(join(root, 'packages')).toSorted()).toEqual(Object.keys(mayImport).toSorted());
  });

  test('has no cycle', () => {
    const reachable = (name: string): string[] => mayImport[name]!.flatMap((next) => [next, ...reachable(next)]);
    for (const name of Object.keys(mayImport)) expect(reachable(name)).not.toContain(name);
  });

  test('covers the workspace dependencies that the packages declare', () => {
    for (const [name, allowed] of Object.entries(mayImport)) {
      const manifest = readFileSync(join(root, 'packages', name, 'package.json'), 'utf8');
      const { dependencies = {} } = JSON.parse(manifest) as { dependencies?: Record<string, string> };
      const declared = Object.keys(dependencies).filter((dependency) => dependency.startsWith('@valkey-operator/'));
      expect(allowed.map((other) => `@valkey-operator/${other}`)).toEqual(expect.arrayContaining(declared));
    }
  });
});
