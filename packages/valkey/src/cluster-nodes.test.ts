import { describe, expect, it } from 'vitest';
import { type ClusterNode, ClusterNodesSyntaxError, parseClusterNodes } from './cluster-nodes.ts';
import { checkCoverage } from './slots/coverage.ts';
import { SlotSet } from './slots/slot-set.ts';
import { readRecordedText, recordedVersions } from './testdata/read-recording.ts';

const id = 'a'.repeat(40);
const peer = 'b'.repeat(40);

function parseOne(line: string): ClusterNode {
  const [node] = parseClusterNodes(line);
  if (node === undefined) throw new Error('no node in that line');
  return node;
}

describe.each(recordedVersions)('parseClusterNodes on what Valkey %s said', (version) => {
  it('reads three primaries that cover every slot, each with a replica', () => {
    const nodes = parseClusterNodes(readRecordedText(`cluster-nodes-${version}`));
    const primaries = nodes.filter((node) => node.role === 'primary');
    const replicas = nodes.filter((node) => node.role === 'replica');

    expect(checkCoverage(primaries.map((node) => node.slots))).toEqual({
      uncovered: SlotSet.empty,
      contested: SlotSet.empty,
    });
    expect(new Set(replicas.map((node) => node.primaryId))).toEqual(new Set(primaries.map((node) => node.id)));
    expect(nodes.filter((node) => node.myself)).toMatchObject([
      { ip: '127.0.0.1', hostname: 'node0.example.test', linkConnected: true, health: 'ok' },
    ]);
  });

  it('reads the open slots of both ends', () => {
    const source = parseClusterNodes(readRecordedText(`cluster-nodes-migrating-${version}`)).find(
      (node) => node.myself,
    );
    const target = parseClusterNodes(readRecordedText(`cluster-nodes-importing-${version}`)).find(
      (node) => node.myself,
    );
    expect(source?.openSlots).toEqual([
      { slot: 93, direction: 'migrating', peer: target?.id },
      { slot: 94, direction: 'migrating', peer: target?.id },
    ]);
    expect(target?.openSlots).toEqual([{ slot: 93, direction: 'importing', peer: source?.id }]);
    expect(source?.slots.has(93)).toBe(true);
  });

  it('tells a suspected node from a failed one, and both from a handshake', () => {
    const suspected = parseClusterNodes(readRecordedText(`cluster-nodes-suspected-${version}`));
    const failed = parseClusterNodes(readRecordedText(`cluster-nodes-failed-${version}`));
    const dead = failed.find((node) => node.health === 'failed');

    expect(suspected.filter((node) => node.health === 'suspected')).toMatchObject([{ id: dead?.id, role: 'primary' }]);
    expect(dead).toMatchObject({ linkConnected: false, role: 'primary' });
    expect(dead?.slots.toString()).toBe('10923-16383');
    expect(failed.filter((node) => node.handshake)).toMatchObject([{ port: 1024, busPort: 11024, role: 'unknown' }]);
  });

  it('reads nodes.conf, where the auxiliary fields are', () => {
    const nodes = parseClusterNodes(readRecordedText(`nodes-conf-${version}`));
    const shardOf = new Map(nodes.map((node) => [node.id, node.aux.get('shard-id')]));
    expect(nodes).toHaveLength(6);
    expect(new Set(nodes.map((node) => node.aux.get('nodename')))).toEqual(
      new Set(['vk-0', 'vk-1', 'vk-2', 'vk-3', 'vk-4', 'vk-5']),
    );
    for (const node of nodes.filter((each) => each.primaryId)) {
      expect(shardOf.get(node.id)).toBe(shardOf.get(node.primaryId ?? ''));
    }
  });
});

describe('parseClusterNodes', () => {
  it('reads a node whose address is not known', () => {
    expect(parseOne(`${id} :0@0 master,noaddr - 0 0 0 disconnected 5 7-9`)).toMatchObject({
      ip: '',
      port: 0,
      noAddress: true,
      slots: SlotSet.parse('5,7-9'),
    });
  });

  it('reads an IPv6 address', () => {
    expect(parseOne(`${id} fd00::1:6379@16379 slave,nofailover ${peer} 0 0 4 connected`)).toMatchObject({
      ip: 'fd00::1',
      port: 6379,
      noFailover: true,
      primaryId: peer,
      configEpoch: 4,
    });
  });

  it.each([
    'nonsense',
    `${id} 10.0.0.1 master - 0 0 0 connected`,
    `${id} 10.0.0.1:1@2 master - 0 0 0 connected [5-?-x]`,
    `${id} 10.0.0.1:1@2 master - 0 0 0 connected 1-2-3`,
  ])('refuses %j rather than guess', (line) => {
    expect(() => parseClusterNodes(line)).toThrow(ClusterNodesSyntaxError);
  });
});
