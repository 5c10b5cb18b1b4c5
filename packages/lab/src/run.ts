import { spawn } from 'node:child_process';
import { delimiter } from 'node:path';
import { LabError } from './errors.ts';

export interface RunOptions {
  input?: string | Uint8Array;
  cwd?: string;
  /** On top of this process's environment. */
  env?: NodeJS.ProcessEnv;
  /** Called with every line of stdout and stderr while the command runs. */
  onLine?: (line: string) => void;
  /** Resolve with any exit code instead of throwing. */
  allowFailure?: boolean;
  signal?: AbortSignal;
}

export interface RunResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Where programs are looked for: root of a plain `su` has no sbin in its PATH. */
export function toolPath(): string {
  return [process.env.PATH, '/usr/sbin', '/sbin'].filter(Boolean).join(delimiter);
}

/** Run a command to its end. Never through a shell, so arguments need no quoting. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...process.env, PATH: toolPath(), ...options.env },
      signal: options.signal,
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      let partial = '';
      child[name]!.setEncoding('utf8').on('data', (chunk: string) => {
        output[name] += chunk;
        if (!options.onLine) return;
        const lines = (partial + chunk).split('\n');
        partial = lines.pop() ?? '';
        lines.forEach(options.onLine);
      });
    }
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') {
        reject(
          new LabError('MissingTool', `${command} is not installed`, `install ${command} and run this again`, error),
        );
      } else {
        reject(error);
      }
    });
    child.on('close', (code, signal) => {
      const result = { code: code ?? 128, ...output };
      if (code === 0 || (options.allowFailure && code !== null)) return resolve(result);
      const ending = signal ? `was ended by ${signal}` : `failed with exit code ${code}`;
      const said = (output.stderr || output.stdout).trim().split('\n').slice(-8).join('\n');
      reject(new LabError('CommandFailed', `${command} ${args.join(' ')} ${ending}: ${said}`, 'see the message above'));
    });
    if (options.input !== undefined) child.stdin!.on('error', () => {}).end(options.input);
  });
}
