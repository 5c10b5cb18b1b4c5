import { describe, expect, it } from 'vitest';
import { parseClusterNodes } from './cluster-nodes.ts';
import { parseClusterSlots } from './cluster-slots.ts';
import { readRecordedReply, readRecordedText, recordedVersions } from './testdata/read-recording.ts';

describe.each(recordedVersions)('parseClusterSlots on what Valkey %s said', (version) => {
  it('agrees with CLUSTER NODES', () => {
    const nodes = parseClusterNodes(readRecordedText(`cluster-nodes-${version}`));
    const routes = parseClusterSlots(readRecordedReply(`cluster-slots-${version}`));
    const expected = nodes
      .filter((node) => node.role === 'primary')
      .map((primary) => ({
        slots: primary.slots,
        primary: { host: primary.ip, port: primary.port, id: primary.id },
        replicas: nodes
          .filter((node) => node.primaryId === primary.id)
          .map((node) => ({ host: node.ip, port: node.port, id: node.id })),
      }));
    expect(routes).toHaveLength(3);
    expect(routes).toEqual(expect.arrayContaining(expected));
  });
});

describe('parseClusterSlots', () => {
  it('leaves the host empty where the node does not know it', () => {
    const [route] = parseClusterSlots([[0, 5, [null, 6379, 'a', []], ['?', 6380, 'b', []]]]);
    expect(route?.primary.host).toBe('');
    expect(route?.replicas[0]?.host).toBe('');
  });
});
