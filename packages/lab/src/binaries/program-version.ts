import { run } from '../run.ts';
import type { Program } from './manifest.ts';

const QUESTION: Partial<Record<Program, string[]>> = { kubectl: ['version', '--client'], coredns: ['-version'] };

/** The version a program says it has, as `v1.2.3`; undefined when it cannot be run or says none. */
export async function askVersion(program: Program, path: string): Promise<string | undefined> {
  const signal = AbortSignal.timeout(20_000);
  const answer = await run(path, QUESTION[program] ?? ['--version'], { signal }).catch(() => undefined);
  const version = answer && /\d+\.\d+\.\d+[\w.+-]*/.exec(answer.stdout);
  return version ? `v${version[0]}` : undefined;
}
