import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const CLI = join(import.meta.dirname, '../../../packages/lab/src/cli.ts');

export interface CliResult {
  /** Exit code, or the signal that ended it. */
  code: number | NodeJS.Signals;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  /** A command that starts the one behind it in another situation: `setpriv --reuid=65534`, `unshare --mount`, ... */
  under?: readonly string[];
  env?: NodeJS.ProcessEnv;
}

/** `lab ...` as a person runs it: a process of its own, judged by its exit code and what it prints. */
export function startLabCli(
  args: readonly string[],
  options: CliOptions = {},
): { child: ChildProcess; result: Promise<CliResult> } {
  const [command, ...rest] = [...(options.under ?? []), process.execPath, CLI, ...args];
  const child = spawn(command!, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
  });
  const result = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(
    ([[code, signal], stdout, stderr]) => ({ code: (code ?? signal) as number | NodeJS.Signals, stdout, stderr }),
  );
  return { child, result };
}

export function runLabCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return startLabCli(args, options).result;
}
