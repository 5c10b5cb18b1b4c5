import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { consoleProgress, progressBar, seconds } from './progress.ts';

/** A stream that keeps what is written, and a clock that moves when it is told to. */
function fakeTerminal({
  isTTY,
  columns = 100,
  env = {},
}: {
  isTTY: boolean;
  columns?: number;
  env?: NodeJS.ProcessEnv;
}) {
  let text = '';
  let time = 0;
  const out = { isTTY, columns, write: (chunk: string) => ((text += chunk), true) };
  const progress = consoleProgress({ out: out as unknown as NodeJS.WriteStream, env, now: () => time });
  return { progress, pass: (ms: number) => (time += ms), text: () => text, lines: () => text.split('\n').slice(0, -1) };
}

/** What stays on a terminal when everything that was drawn over is gone. */
const visible = (text: string) =>
  stripVTControlCharacters(
    text
      .split('\n')
      .map((line) => line.split('\r').at(-1))
      .join('\n'),
  );

describe('progress on a pipe', () => {
  test('is one line per step, with a tick and the time it took', async () => {
    const { progress, pass, lines } = fakeTerminal({ isTTY: false });
    const result = await progress.step('Start the control plane', async () => {
      pass(1234);
      return 42;
    });
    expect(result).toBe(42);
    expect(lines()).toEqual([`  ✓ ${'Start the control plane'.padEnd(46)}   1.2 s`]);
  });

  test('shows the last note behind the time', async () => {
    const { progress, lines } = fakeTerminal({ isTTY: false });
    await progress.step('Build images', async (step) => {
      step.progress(1, 2, 'images');
      step.progress(2, 2, 'images');
    });
    expect(lines()).toHaveLength(1);
    expect(lines()[0]).toMatch(/ {2}█{20} 2\/2 images$/);
  });

  test('marks a step that failed and passes the error on', async () => {
    const { progress, lines } = fakeTerminal({ isTTY: false });
    const failure = new Error('no luck');
    await expect(progress.step('Start', () => Promise.reject(failure))).rejects.toBe(failure);
    expect(lines()[0]).toMatch(/^ {2}✗ Start/);
  });

  test('says what a long step is doing from time to time', async () => {
    vi.useFakeTimers();
    try {
      const { progress, pass, lines } = fakeTerminal({ isTTY: false });
      const end = Promise.withResolvers<void>();
      const step = progress.step('Build Kubernetes', async (reporter) => {
        reporter.note('compiling');
        await end.promise;
      });
      pass(15_000);
      vi.advanceTimersByTime(15_000);
      expect(lines()).toEqual([`  … ${'Build Kubernetes'.padEnd(46)}  15.0 s  compiling`]);
      end.resolve();
      await step;
      vi.advanceTimersByTime(60_000);
      expect(lines()).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });

  test('has no colours and draws nothing over', async () => {
    const { progress, text } = fakeTerminal({ isTTY: false });
    await progress.step('Start', async (step) => step.note('waiting'));
    expect(text()).toBe(visible(text()));
  });
});

describe('progress on a terminal', () => {
  test('ends with the same line as on a pipe', async () => {
    const terminal = fakeTerminal({ isTTY: true });
    const pipe = fakeTerminal({ isTTY: false });
    for (const { progress, pass } of [terminal, pipe]) {
      await progress.step('Start 3 nodes', async (step) => {
        step.note('1/3 Ready');
        pass(2000);
        step.note('3/3 Ready');
      });
    }
    expect(visible(terminal.text())).toEqual(visible(pipe.text()));
  });

  test('never draws a line that wraps', async () => {
    const { progress, text } = fakeTerminal({ isTTY: true, columns: 70 });
    await progress.step('Start', async (step) => step.note(`${'x'.repeat(200)}\n${'x'.repeat(200)}`));
    const drawn = text().split(/[\r\n]/);
    expect(Math.max(...drawn.map((line) => visible(line).length))).toBe(69);
    expect(visible(text()).trimEnd()).toMatch(/^ {2}✓ Start .* x+…$/);
  });

  test('is plain with NO_COLOR, and like a pipe in CI', async () => {
    const plain = fakeTerminal({ isTTY: true, env: { NO_COLOR: '1' } });
    await plain.progress.step('Start', async () => {});
    expect(plain.text()).not.toContain('\u001b[3');
    const ci = fakeTerminal({ isTTY: true, env: { CI: 'true' } });
    await ci.progress.step('Start', async () => {});
    expect(ci.text()).not.toContain('\r');
  });
});

test.each([
  [0, '0.0 s'],
  [9_949, '9.9 s'],
  [59_949, '59.9 s'],
  [59_960, '1m 0s'],
  [119_600, '2m 0s'],
  [425_000, '7m 5s'],
])('%i ms reads as %s', (ms, text) => {
  expect(seconds(ms)).toBe(text);
});

test('a progress bar is full at the end, and empty when nothing is known', () => {
  expect(progressBar(0, 10, 4)).toBe('░░░░');
  expect(progressBar(5, 10, 4)).toBe('██░░');
  expect(progressBar(12, 10, 4)).toBe('████');
  expect(progressBar(1, 0, 4)).toBe('░░░░');
});
