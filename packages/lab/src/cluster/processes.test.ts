import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ChildProcess } from 'node:child_process';
import {
  identifyProcess,
  isAlive,
  isFrozen,
  signalProcess,
  stopProcess,
  waitForExit,
  waitForFreeze,
} from './processes.ts';

let child: ChildProcess;
beforeEach(async () => {
  child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log("up")'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout!, 'data');
});
afterEach(() => child.kill('SIGKILL'));

test('a process is known by its pid and its start', () => {
  const id = identifyProcess(child.pid!)!;
  expect(isAlive(id)).toBe(true);
  expect(isFrozen(id)).toBe(false);
});

test('another process with a reused pid is not taken for it, and gets no signal', () => {
  const stranger = { pid: child.pid!, startTime: '1' };
  expect(isAlive(stranger)).toBe(false);
  expect(signalProcess(stranger, 'SIGKILL')).toBe(false);
  expect(isAlive(identifyProcess(child.pid!)!)).toBe(true);
});

test('a frozen process lives, thaws, and can be stopped while frozen', async () => {
  const id = identifyProcess(child.pid!)!;
  signalProcess(id, 'SIGSTOP');
  expect(await waitForFreeze(id, 5000)).toBe(true);
  expect(isAlive(id)).toBe(true);
  signalProcess(id, 'SIGCONT');
  await expect.poll(() => isFrozen(id)).toBe(false);
  signalProcess(id, 'SIGSTOP');
  await waitForFreeze(id, 5000);
  await stopProcess(id);
  expect(isAlive(id)).toBe(false);
});

test('a process that has ended is no process, although nobody has asked for its exit code', async () => {
  const id = identifyProcess(child.pid!)!;
  child.kill('SIGKILL');
  expect(await waitForExit(id, 5000)).toBe(true);
  expect(identifyProcess(id.pid)).toBe(undefined);
});
