import { describe, expect, it } from 'vitest';

import { MessageQueue } from './message-queue.ts';

async function collect<T>(messages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const message of messages) all.push(message);
  return all;
}

describe('a message queue', () => {
  it('delivers in order what was pushed before and after its reader came, and ends', async () => {
    const queue = new MessageQueue<number>();
    queue.push(1);
    const all = collect(queue);
    queue.push(2);
    queue.close();
    queue.push(3);
    expect(await all).toEqual([1, 2]);
  });

  it('drops what is superseded before anybody has taken it', async () => {
    const queue = new MessageQueue<string>();
    const isReport = (message: string) => message.startsWith('report');
    queue.push('report 1', isReport);
    queue.push('result');
    queue.push('report 2', isReport);
    queue.close();
    expect(await collect(queue)).toEqual(['result', 'report 2']);
  });

  it('fails its reader after everything was delivered', async () => {
    const queue = new MessageQueue<number>();
    queue.push(1);
    queue.fail(new Error('lost'));
    const reader = queue[Symbol.asyncIterator]();
    expect(await reader.next()).toEqual({ done: false, value: 1 });
    await expect(reader.next()).rejects.toThrow('lost');
  });
});
