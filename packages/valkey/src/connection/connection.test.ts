import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { encodeReply } from '../resp/encoder.ts';
import { ValkeyError } from '../resp/valkey-error.ts';
import { PushMessage } from '../resp/value.ts';
import { connect, type ConnectOptions } from './connect.ts';
import { ConnectionError } from './connection-error.ts';
import { type Answer, FakeValkey } from './fake-valkey.ts';

// The transport against a server of our own on a unix socket; what Valkey itself says is in the recorded replies.

afterEach(() => {
  vi.useRealTimers();
});

const echo: Answer = ([command, text]) => (command === 'ECHO' ? (text ?? null) : undefined);
const dial = (fake: FakeValkey, options: Partial<ConnectOptions> = {}) =>
  connect({ address: { path: fake.path }, timeoutMs: 5000, ...options });

describe('connect', () => {
  it('greets in RESP3, signs in and gives its name in one command', async () => {
    await using fake = await FakeValkey.start(echo);
    using connection = await dial(fake, {
      credentials: { username: 'ann', password: 'secret' },
      clientName: 'sidecar',
    });
    expect(connection.isOpen).toBe(true);
    expect(fake.commands).toEqual([['HELLO', '3', 'AUTH', 'ann', 'secret', 'SETNAME', 'sidecar']]);
  });

  it('rejects with what the server says when the greeting is refused', async () => {
    await using fake = await FakeValkey.start(echo, () => new ValkeyError('WRONGPASS invalid username-password pair'));
    await expect(dial(fake)).rejects.toMatchObject({ name: 'ValkeyError', code: 'WRONGPASS' });
  });

  it('rejects when nobody listens', async () => {
    await expect(connect({ address: { path: '/nonexistent/valkey.sock' }, timeoutMs: 5000 })).rejects.toMatchObject({
      code: 'connect-failed',
      executed: 'no',
      cause: { code: 'ENOENT' },
    });
  });

  it('rejects in time when the server accepts and then is silent', async () => {
    const { promise: hungUp, resolve } = Promise.withResolvers<void>();
    await using fake = await FakeValkey.start(echo, (_, socket) => {
      socket.once('close', resolve);
      return undefined;
    });
    await expect(dial(fake, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'connect-timeout', executed: 'no' });
    await hungUp;
  });

  it('rejects when the server hangs up instead of greeting', async () => {
    await using fake = await FakeValkey.start(echo, (_, socket) => {
      socket.destroy();
      return undefined;
    });
    await expect(dial(fake)).rejects.toMatchObject({ code: 'connect-failed', executed: 'no' });
  });

  it('gives up when its caller does', async () => {
    await using fake = await FakeValkey.start(echo);
    const signal = AbortSignal.abort();
    await expect(dial(fake, { signal })).rejects.toMatchObject({ code: 'aborted', executed: 'no' });
    expect(fake.commands).toEqual([]);
  });
});

describe('Connection', () => {
  it('sends the commands of one tick in one write and answers each in order', async () => {
    await using fake = await FakeValkey.start(echo);
    using connection = await dial(fake);
    const before = fake.chunkCount;
    const replies = await Promise.all(['a', 'b', 'ü'].map((text) => connection.call(['ECHO', text])));
    expect(replies).toEqual(['a', 'b', 'ü']);
    expect(fake.chunkCount - before).toBe(1);
  });

  it('rejects one command with its error reply and goes on with the next', async () => {
    await using fake = await FakeValkey.start(([command, text]) =>
      command === 'GET' ? new ValkeyError('MOVED 93 10.0.0.7:6379') : (text ?? undefined),
    );
    using connection = await dial(fake);
    const [moved, echoed] = await Promise.allSettled([connection.call(['GET', 'k']), connection.call(['ECHO', 'x'])]);
    expect(moved).toMatchObject({ reason: { code: 'MOVED', redirect: { slot: 93, host: '10.0.0.7' } } });
    expect(echoed).toMatchObject({ value: 'x' });
  });

  it('hands push messages to the callback, wherever they fall between replies', async () => {
    await using fake = await FakeValkey.start((command, socket) => {
      if (command[0] === 'ECHO') socket.write(encodeReply(new PushMessage('invalidate', [['k']])));
      return echo(command, socket);
    });
    const pushed: PushMessage[] = [];
    using connection = await dial(fake, { onPush: (message) => pushed.push(message) });
    expect(await connection.call(['ECHO', 'x'])).toBe('x');
    expect(pushed).toEqual([new PushMessage('invalidate', [['k']])]);
  });

  it('gives bytes to the caller who asks for them, and text to the next', async () => {
    await using fake = await FakeValkey.start(echo);
    using connection = await dial(fake);
    const replies = await Promise.all([
      connection.call(['ECHO', 'a'], { binary: true }),
      connection.call(['ECHO', 'b']),
    ]);
    expect(replies).toEqual([Buffer.from('a'), 'b']);
  });

  it('refuses commands that have no reply of their own', async () => {
    await using fake = await FakeValkey.start(echo);
    using connection = await dial(fake);
    await expect(connection.call(['SUBSCRIBE', 'news'])).rejects.toThrow(TypeError);
  });
});

describe('a command without a reply', () => {
  it('times out as "maybe executed", and its late reply is not taken for the next one', async () => {
    const { promise: late, resolve: release } = Promise.withResolvers<void>();
    await using fake = await FakeValkey.start((command, socket) => {
      if (command[1] !== 'slow') return echo(command, socket);
      void late.then(() => socket.write(encodeReply('slow')));
      return undefined;
    });
    using connection = await dial(fake);
    await expect(connection.call(['ECHO', 'slow'], { timeoutMs: 10 })).rejects.toMatchObject({
      code: 'timeout',
      executed: 'maybe',
    });
    release();
    expect(await connection.call(['ECHO', 'next'])).toBe('next');
  });

  it('is not sent at all when it is given up in the same tick', async () => {
    await using fake = await FakeValkey.start(echo);
    using connection = await dial(fake);
    const controller = new AbortController();
    const given = connection.call(['ECHO', 'given up'], { signal: controller.signal });
    controller.abort();
    await expect(given).rejects.toMatchObject({ code: 'aborted', executed: 'no' });
    expect(await connection.call(['ECHO', 'kept'])).toBe('kept');
    expect(fake.commands.slice(1)).toEqual([['ECHO', 'kept']]);
  });

  it('is "maybe executed" when the connection is lost, and the next one "not executed"', async () => {
    await using fake = await FakeValkey.start((command, socket) => {
      if (command[0] === 'SET') socket.destroy();
      return undefined;
    });
    using connection = await dial(fake);
    await expect(connection.call(['SET', 'k', 'v'])).rejects.toMatchObject({ code: 'lost', executed: 'maybe' });
    expect(connection.isOpen).toBe(false);
    await expect(connection.call(['SET', 'k', 'v'])).rejects.toMatchObject({ code: 'lost', executed: 'no' });
    expect(await connection.ended).toBeInstanceOf(ConnectionError);
  });

  it('is rejected when this side closes: "maybe" if it was sent, "no" if it was not', async () => {
    const { promise: arrived, resolve } = Promise.withResolvers<void>();
    await using fake = await FakeValkey.start(([command]) => {
      if (command === 'GET') resolve();
      return undefined;
    });
    const connection = await dial(fake);
    const sent = connection.call(['GET', 'k']);
    await arrived;
    const unsent = connection.call(['GET', 'k']);
    connection.close();
    const [first, second] = await Promise.allSettled([sent, unsent]);
    expect(first).toMatchObject({ reason: { code: 'closed', executed: 'maybe' } });
    expect(second).toMatchObject({ reason: { code: 'closed', executed: 'no' } });
  });

  it('is rejected when the peer does not speak RESP', async () => {
    await using fake = await FakeValkey.start(([command], socket) => {
      if (command === 'GET') socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
      return undefined;
    });
    using connection = await dial(fake);
    await expect(connection.call(['GET', 'k'])).rejects.toMatchObject({ code: 'protocol', executed: 'maybe' });
  });

  it('leaves no timer and no listener behind once it has its reply', async () => {
    await using fake = await FakeValkey.start(echo);
    using connection = await dial(fake);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { signal } = new AbortController();
    const reply = connection.call(['ECHO', 'x'], { timeoutMs: 1000, signal });
    expect([vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([1, 1]);
    await reply;
    expect([vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([0, 0]);
  });

  it('does not wait for replies that nobody asked for', async () => {
    await using fake = await FakeValkey.start((command, socket) => {
      if (command[0] === 'ECHO') socket.write(encodeReply('extra'));
      return echo(command, socket);
    });
    using connection = await dial(fake);
    await connection.call(['ECHO', 'x']);
    expect(await connection.ended).toMatchObject({ code: 'protocol' });
  });
});
