import { describe, expect, it } from 'vitest';
import { ClusterClient } from './cluster-client.ts';
import type { NodeAddress } from './cluster-slots.ts';
import { connect } from './connection/connect.ts';
import { type Answer, FakeValkey } from './connection/fake-valkey.ts';
import { ValkeyError } from './resp/valkey-error.ts';
import type { RespValue } from './resp/value.ts';
import { keySlot } from './slots/key-slot.ts';

// Routing against servers of our own on unix sockets, so that each redirect comes exactly when the test wants it.

const slots = (...owners: [first: number, last: number, port: number][]): RespValue =>
  owners.map(([first, last, port]) => [first, last, ['node', port, `id-${port}`, new Map()]]);

/** Nodes named by their port. */
async function startNodes(answers: Record<number, Answer>) {
  const nodes = new Map<number, FakeValkey>();
  for (const [port, answer] of Object.entries(answers)) nodes.set(Number(port), await FakeValkey.start(answer));
  const client = new ClusterClient({
    seeds: [...nodes.keys()].map((port) => ({ host: 'node', port })),
    topologyTimeoutMs: 5000,
    connect: ({ host, port }: NodeAddress) =>
      connect({
        address: { path: (host === 'node' && nodes.get(port)?.path) || '/nonexistent/socket' },
        timeoutMs: 5000,
      }),
  });
  const heard = (port: number) =>
    nodes
      .get(port)
      ?.commands.filter(([word]) => word !== 'HELLO')
      .map((words) => words.join(' '));
  const stop = async (port: number) => nodes.get(port)?.[Symbol.asyncDispose]();
  return {
    client,
    heard,
    stop,
    async [Symbol.asyncDispose]() {
      client.close();
      for (const node of nodes.values()) await node[Symbol.asyncDispose]();
    },
  };
}

const fixed =
  (topology: RespValue, value: RespValue): Answer =>
  ([word]) =>
    word === 'CLUSTER' ? topology : value;

describe('ClusterClient', () => {
  it('sends each command to the owner of its key, and asks for the topology once', async () => {
    const topology = slots([0, 8191, 1], [8192, 16383, 2]);
    await using cluster = await startNodes({ 1: fixed(topology, 'from 1'), 2: fixed(topology, 'from 2') });
    expect(keySlot('foo')).toBeGreaterThan(8191);
    expect(keySlot('bar')).toBeLessThan(8192);
    expect(await cluster.client.call('foo', ['GET', 'foo'])).toBe('from 2');
    expect(await cluster.client.call('bar', ['GET', 'bar'])).toBe('from 1');
    expect(cluster.heard(1)).toEqual(['CLUSTER SLOTS', 'GET bar']);
    expect(cluster.heard(2)).toEqual(['GET foo']);
  });

  it('follows MOVED at once, and then learns the topology from the new owner', async () => {
    const moved: Answer = ([word]) =>
      word === 'CLUSTER' ? slots([0, 16383, 1]) : new ValkeyError(`MOVED ${keySlot('foo')} node:2`);
    await using cluster = await startNodes({ 1: moved, 2: fixed(slots([0, 16383, 2]), 'from 2') });
    expect(await cluster.client.call('foo', ['GET', 'foo'])).toBe('from 2');
    expect(await cluster.client.call('bar', ['GET', 'bar'])).toBe('from 2');
    expect(cluster.heard(1)).toEqual(['CLUSTER SLOTS', 'GET foo']);
    expect(cluster.heard(2)).toEqual(['GET foo', 'CLUSTER SLOTS', 'GET bar']);
  });

  it('follows ASK for one command, with ASKING, and keeps the topology', async () => {
    const ask: Answer = ([word, key]) => {
      if (word === 'CLUSTER') return slots([0, 16383, 1]);
      return key === 'foo' ? new ValkeyError(`ASK ${keySlot('foo')} :2`) : 'from 1';
    };
    await using cluster = await startNodes({ 1: ask, 2: fixed(slots([0, 16383, 1]), 'from 2') });
    expect(await cluster.client.call('foo', ['GET', 'foo'])).toBe('from 2');
    expect(await cluster.client.call('bar', ['GET', 'bar'])).toBe('from 1');
    expect(cluster.heard(2)).toEqual(['ASKING', 'GET foo']);
  });

  it('gives up on redirects that go in a circle', async () => {
    const moved =
      (port: number): Answer =>
      ([word]) =>
        word === 'CLUSTER' ? slots([0, 16383, 1]) : new ValkeyError(`MOVED 1 node:${port}`);
    await using cluster = await startNodes({ 1: moved(2), 2: moved(1) });
    await expect(cluster.client.call('foo', ['GET', 'foo'])).rejects.toMatchObject({ code: 'MOVED' });
  });

  it('finds the new owner when the old one no longer accepts connections', async () => {
    const told = [slots([0, 16383, 1]), slots([0, 16383, 2])];
    const survivor: Answer = ([word]) => (word === 'CLUSTER' ? told.shift() : 'from 2');
    await using cluster = await startNodes({ 1: () => 'from 1', 2: survivor });
    await cluster.stop(1);
    expect(await cluster.client.call('foo', ['GET', 'foo'])).toBe('from 2');
    expect(cluster.heard(2)).toEqual(['CLUSTER SLOTS', 'CLUSTER SLOTS', 'GET foo']);
  });

  it('does not repeat a write that may have been executed', async () => {
    const dying: Answer = ([word], socket) => {
      if (word === 'CLUSTER') return slots([0, 16383, 1]);
      if (word === 'INCR') socket.destroy();
      return undefined;
    };
    await using cluster = await startNodes({ 1: dying });
    await expect(cluster.client.call('foo', ['INCR', 'foo'])).rejects.toMatchObject({
      code: 'lost',
      executed: 'maybe',
    });
    expect(cluster.heard(1)).toEqual(['CLUSTER SLOTS', 'INCR foo']);
  });

  it('passes other errors on', async () => {
    await using cluster = await startNodes({
      1: fixed(slots([0, 16383, 1]), new ValkeyError('CLUSTERDOWN The cluster is down')),
    });
    await expect(cluster.client.call('foo', ['GET', 'foo'])).rejects.toMatchObject({ code: 'CLUSTERDOWN' });
  });

  it('refuses commands after it was closed', async () => {
    await using cluster = await startNodes({ 1: fixed(slots([0, 16383, 1]), 'x') });
    cluster.client.close();
    await expect(cluster.client.call('foo', ['GET', 'foo'])).rejects.toMatchObject({ code: 'closed', executed: 'no' });
  });
});
