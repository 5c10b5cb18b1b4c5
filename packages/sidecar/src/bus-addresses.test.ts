import { expect, it } from 'vitest';
import { withBusAddresses } from './bus-addresses.ts';
import { aNode } from './testing/cluster-nodes.ts';

const announced = new Map([['client-ipv4', '203.0.113.7']]);

it('a node that announces an address to clients is known by the one it has among nodes', () => {
  const seen = [aNode('a', { ip: '203.0.113.7', port: 30_001 }), aNode('b', { ip: '10.0.0.2' })];
  const saved = [aNode('a', { ip: '10.0.0.1', aux: announced }), aNode('b', { ip: '10.0.0.9' })];
  expect(withBusAddresses(seen, saved).map(({ ip, port }) => `${ip}:${port}`)).toEqual([
    '10.0.0.1:6379',
    '10.0.0.2:6379',
  ]);
});

it('what is on disk does not count when Valkey says something else by now', () => {
  const saved = [aNode('a', { ip: '10.0.0.1', aux: announced })];
  expect(withBusAddresses([aNode('a', { ip: '10.0.0.5' })], saved)).toMatchObject([{ ip: '10.0.0.5' }]);
});
