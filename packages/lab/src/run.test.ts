import { describe, expect, test } from 'vitest';
import { run } from './run.ts';

const node = (script: string, options = {}) => run(process.execPath, ['-e', script], options);

describe('running a command', () => {
  test('gives back what it printed, apart', async () => {
    expect(await node('console.log("out"); console.error("err")')).toEqual({
      code: 0,
      stdout: 'out\n',
      stderr: 'err\n',
    });
  });

  test('passes input on, and hands lines over while they come', async () => {
    const lines: string[] = [];
    await node('process.stdin.pipe(process.stdout)', {
      input: 'one\ntwo\n',
      onLine: (line: string) => lines.push(line),
    });
    expect(lines).toEqual(['one', 'two']);
  });

  test('a failure carries the command, its exit code and its last words', async () => {
    const failure = node('console.error("it is broken"); process.exit(3)');
    await expect(failure).rejects.toMatchObject({ code: 'CommandFailed' });
    await expect(failure).rejects.toThrow(/failed with exit code 3: it is broken/);
  });

  test('a failure that is expected is an answer', async () => {
    expect(await node('process.exit(3)', { allowFailure: true })).toMatchObject({ code: 3 });
  });

  test('a death by signal is never an answer', async () => {
    await expect(node('process.kill(process.pid, "SIGKILL")', { allowFailure: true })).rejects.toThrow(
      'ended by SIGKILL',
    );
  });

  test('a program that is not there is named', async () => {
    await expect(run('no-such-program', [])).rejects.toMatchObject({
      code: 'MissingTool',
      message: 'no-such-program is not installed',
    });
  });

  test('ends the program when it is told to', async () => {
    const failure = node('setTimeout(() => {}, 60_000)', { signal: AbortSignal.abort(new Error('enough')) });
    await expect(failure).rejects.toThrow(/abort/);
  });
});
