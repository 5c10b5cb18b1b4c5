/**
 * Writes src/gen from the contracts in proto/. With `--check` nothing is written: the contracts must pass buf's lint, must not
 * break those of the last commit that changed them, and src/gen must be what would be written.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const bin = join(root, '../../node_modules/.bin');
const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };

function buf(...args: string[]): void {
  const { status, error } = spawnSync(join(bin, 'buf'), args, { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) throw new Error(`buf ${args[0]} failed`, { cause: error });
}

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** The contracts to compare with: the last committed ones, or, when these are they, the ones before. */
function findPredecessor(): string | undefined {
  const [last, before] = git('log', '-2', '--format=%H', '--', 'proto').split('\n');
  return git('status', '--porcelain', '--', 'proto') === '' ? before : last || undefined;
}

function checkCompatibility(): void {
  const predecessor = findPredecessor();
  if (predecessor === undefined) return console.log('no earlier contracts to be compatible with');
  const gitDir = git('rev-parse', '--path-format=absolute', '--git-common-dir');
  buf('breaking', '--against', `${gitDir}#ref=${predecessor},subdir=${git('rev-parse', '--show-prefix')}`);
}

/** The generator tells a linter to look away; ours is told which files are generated, in its own configuration. */
function generate(into: string): void {
  buf('generate', '--output', into);
  const folder = join(into, 'src/gen');
  for (const file of listFiles(folder)) {
    const text = readFileSync(join(folder, file), 'utf8');
    writeFileSync(join(folder, file), text.replace(/^\/\* eslint-.* \*\/\n/m, ''));
  }
}

function checkGenerated(): void {
  const fresh = mkdtempSync(join(tmpdir(), 'rpc-gen-'));
  try {
    generate(fresh);
    const stale = findDifferences(join(fresh, 'src/gen'), join(root, 'src/gen'));
    if (stale.length > 0) throw new Error(`not as generated: ${stale.join(', ')}`);
  } finally {
    rmSync(fresh, { recursive: true });
  }
}

function findDifferences(expected: string, actual: string): string[] {
  const [wanted, present] = [listFiles(expected), listFiles(actual)];
  const differs = (file: string) =>
    !wanted.has(file) ||
    !present.has(file) ||
    readFileSync(join(expected, file), 'utf8') !== readFileSync(join(actual, file), 'utf8');
  return [...new Set([...wanted, ...present])].filter(differs);
}

function listFiles(folder: string): Set<string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Set(entries.filter((e) => e.isFile()).map((e) => join(e.parentPath, e.name).slice(folder.length + 1)));
}

try {
  if (process.argv.includes('--check')) {
    buf('lint');
    checkCompatibility();
    checkGenerated();
  } else {
    generate(root);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
