import { describe, expect, it } from 'vitest';
import { connect } from './connect.ts';
import type { Connection } from './connection.ts';
import { FakeValkey } from './fake-valkey.ts';
import { exponentialBackOff, keepConnected } from './keep-connected.ts';

describe('keepConnected', () => {
  it('makes a new connection when the old one is lost, and none after it was closed', async () => {
    await using fake = await FakeValkey.start(() => undefined);
    let up = Promise.withResolvers<Connection>();
    const waits: number[] = [];
    const kept = keepConnected({
      connect: (signal) => connect({ address: { path: fake.path }, timeoutMs: 5000, signal }),
      backOff: (failures) => {
        waits.push(failures);
        return 0;
      },
      onUp: (connection) => up.resolve(connection),
    });

    const first = await up.promise;
    expect(kept.current).toBe(first);
    up = Promise.withResolvers();
    fake.dropConnections();
    const second = await up.promise;
    expect(second).not.toBe(first);
    expect(waits).toEqual([0]);

    kept.close();
    expect(await second.ended).toMatchObject({ code: 'closed' });
    expect(kept.current).toBeUndefined();
    expect(fake.commands.map(([command]) => command)).toEqual(['HELLO', 'HELLO']);
  });

  it('counts the failures in a row and tells each', async () => {
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    const waits: number[] = [];
    const reasons: unknown[] = [];
    const kept = keepConnected({
      connect: (signal) => connect({ address: { path: '/nonexistent/valkey.sock' }, timeoutMs: 5000, signal }),
      backOff: (failures) => {
        if (waits.push(failures) === 3) resolve();
        return 0;
      },
      onDown: (reason) => reasons.push(reason),
    });
    await enough;
    kept.close();
    expect(waits).toEqual([0, 1, 2]);
    expect(reasons[0]).toMatchObject({ code: 'connect-failed' });
  });
});

describe('exponentialBackOff', () => {
  it('doubles up to its limit and stays in the upper half', () => {
    const least = exponentialBackOff(10, 100, () => 0);
    const most = exponentialBackOff(10, 100, () => 1);
    expect([0, 1, 2, 3, 4, 50].map(least)).toEqual([5, 10, 20, 40, 50, 50]);
    expect([0, 1, 2, 3, 4, 50].map(most)).toEqual([10, 20, 40, 80, 100, 100]);
  });
});
