import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { acquireLock } from './process-lock.ts';

/** Another process that takes the lock and keeps it. */
async function holdElsewhere(name: string) {
  const module = new URL('./process-lock.ts', import.meta.url).href;
  const script = `
    const { acquireLock } = await import(${JSON.stringify(module)});
    await acquireLock(${JSON.stringify(name)});
    console.log('held');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

test('holders of one lock follow each other, never two at once', async () => {
  const name = randomUUID();
  let inside = 0;
  let most = 0;
  const work = async () => {
    await using _lock = await acquireLock(name);
    most = Math.max(most, ++inside);
    await new Promise(setImmediate);
    inside--;
  };
  await Promise.all(Array.from({ length: 8 }, work));
  expect(most).toBe(1);
  expect(inside).toBe(0);
});

test('locks of different names do not wait for each other', async () => {
  const onWait = vi.fn();
  await using _one = await acquireLock(randomUUID(), onWait);
  await using _other = await acquireLock(randomUUID(), onWait);
  expect(onWait).not.toHaveBeenCalled();
});

test('a process that is killed while it holds the lock lets go of it', async () => {
  const name = randomUUID();
  const holder = await holdElsewhere(name);
  let waited = 0;
  const lock = acquireLock(name, () => {
    waited++;
    holder.kill('SIGKILL');
  });
  await using _lock = await lock;
  expect(waited).toBeGreaterThan(0);
});
