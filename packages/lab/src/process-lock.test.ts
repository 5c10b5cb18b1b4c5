import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { withLock } from './process-lock.ts';

/** Another process that takes the lock and keeps it. */
async function holdElsewhere(name: string) {
  const module = new URL('./process-lock.ts', import.meta.url).href;
  const script = `
    const { withLock } = await import(${JSON.stringify(module)});
    await withLock(${JSON.stringify(name)}, () => new Promise(() => console.log('held')));`;
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
    most = Math.max(most, ++inside);
    await new Promise(setImmediate);
    inside--;
  };
  await Promise.all(Array.from({ length: 8 }, () => withLock(name, work)));
  expect(most).toBe(1);
  expect(inside).toBe(0);
});

test('locks of different names do not wait for each other', async () => {
  const onWait = vi.fn();
  const inner = () => withLock(randomUUID(), async () => 'both held', { onWait });
  expect(await withLock(randomUUID(), inner, { onWait })).toBe('both held');
  expect(onWait).not.toHaveBeenCalled();
});

test('work that fails lets go of the lock', async () => {
  const name = randomUUID();
  await expect(withLock(name, () => Promise.reject(new Error('no luck')))).rejects.toThrow('no luck');
  expect(await withLock(name, async () => 'next')).toBe('next');
});

test('a process that is killed while it holds the lock lets go of it', async () => {
  const name = randomUUID();
  const holder = await holdElsewhere(name);
  let waited = 0;
  const endHolder = () => {
    waited++;
    holder.kill('SIGKILL');
  };
  expect(await withLock(name, async () => 'held here', { onWait: endHolder })).toBe('held here');
  expect(waited).toBeGreaterThan(0);
});

test('who waits for a lock can give up, and the holder keeps it', async () => {
  const name = randomUUID();
  const patience = new AbortController();
  await withLock(name, async () => {
    const work = vi.fn();
    const onWait = () => setImmediate(() => patience.abort(new Error('too long')));
    await expect(withLock(name, work, { onWait, signal: patience.signal })).rejects.toThrow('too long');
    expect(work).not.toHaveBeenCalled();
  });
});
