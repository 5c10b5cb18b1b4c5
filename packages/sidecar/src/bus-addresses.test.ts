import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createNodesConfReader, withBusAddresses } from './bus-addresses.ts';
import { aNode } from './testing/cluster-nodes.ts';

const announced = new Map([['client-ipv4', '203.0.113.7']]);

it.each([
  ['over TCP', '203.0.113.7'],
  ['over its socket', '10.0.0.1'],
])('a node that announces an address to clients is known by that among nodes, and both are told, %s', (_by, ip) => {
  const seen = [aNode('a', { ip, port: 30_001 }), aNode('b', { ip: '10.0.0.2' })];
  const saved = [aNode('a', { ip: '10.0.0.1', aux: announced }), aNode('b', { ip: '10.0.0.9' })];
  expect(withBusAddresses(seen, saved)).toMatchObject([
    { ip: '10.0.0.1', port: 6379, aux: announced },
    { ip: '10.0.0.2', port: 6379, aux: new Map() },
  ]);
});

it('what is on disk does not count when Valkey says something else by now', () => {
  const saved = [aNode('a', { ip: '10.0.0.1', aux: announced })];
  expect(withBusAddresses([aNode('a', { ip: '10.0.0.5' })], saved)).toMatchObject([{ ip: '10.0.0.5' }]);
});

it('a table that Valkey has put in the place of another is read', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sidecar-nodes-'));
  const file = join(directory, 'nodes.conf');
  const read = createNodesConfReader(file);
  const save = async (ip: string) => {
    const line = `${'a'.repeat(40)} ${ip}:6379@16379,,tls-port=0,client-ipv4=203.0.113.7 myself,master - 0 0 1 connected\n`;
    await writeFile(`${file}.tmp`, line);
    await rename(`${file}.tmp`, file);
  };
  const addresses = async () => (await read()).map((node) => node.ip);
  expect(await addresses()).toEqual([]);
  for (const ip of ['10.0.0.1', '10.0.0.2']) {
    await save(ip);
    expect(await addresses()).toEqual([ip]);
    expect(await addresses()).toEqual([ip]);
  }
  await rm(directory, { recursive: true });
  expect(await addresses()).toEqual([]);
});
