import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type ClusterReportSchema, MoveState, NodeReportSchema, Role } from '@valkey-operator/rpc';
import { describe, expect, it } from 'vitest';
import { significanceOf } from './significance.ts';

type Cluster = MessageInitShape<typeof ClusterReportSchema>;

const open: Cluster['openSlots'] = [{ slot: 7, direction: { case: 'migratingTo', value: 'other' } }];
const tell = (cluster: Cluster) =>
  significanceOf(create(NodeReportSchema, { cluster: { role: Role.PRIMARY, ...cluster } }));

describe('what is worth telling at once', () => {
  it('is which slots the node itself owns, as long as none is open, but not those of others', () => {
    expect(tell({ slots: '0-9' })).not.toBe(tell({ slots: '0-8' }));
    expect(tell({ nodes: [{ id: 'a', slots: '0-9' }] })).toBe(tell({ nodes: [{ id: 'a', slots: '0-8' }] }));
  });

  it('is who is there, and how many slots have an owner', () => {
    expect(tell({ nodes: [{ id: 'a' }] })).not.toBe(tell({ nodes: [{ id: 'a' }, { id: 'b' }] }));
    expect(tell({ slotsAssigned: 16_384 })).not.toBe(tell({ slotsAssigned: 16_381 }));
  });

  it('is that slots are open, but not which and not what becomes of them', () => {
    const before = { openSlots: open, slots: '0-9', nodes: [{ id: 'a', slots: '10-19' }] };
    const after = { openSlots: [{ ...open[0], slot: 8 }], slots: '0-8', nodes: [{ id: 'a', slots: '9-19' }] };
    expect(tell(before)).toBe(tell(after));
    expect(tell(after)).not.toBe(tell({ ...after, openSlots: [] }));
  });

  it('is that ranges of slots are on their way, but not which and not how far they are', () => {
    const migrations = [{ name: 'm1', state: 'snapshotting', slots: '0-4', remainingBytes: 10n }];
    const before = { migrations, slots: '0-9', configEpoch: 3n };
    const after = {
      migrations: [{ ...migrations[0], name: 'm2', state: 'replicating' }],
      slots: '5-9',
      configEpoch: 4n,
    };
    expect(tell(before)).toBe(tell(after));
    expect(tell(after)).not.toBe(tell({ ...after, migrations: [] }));
  });

  it('is that its sidecar has moved all it should, but not each range of it', () => {
    const moving = (state: MoveState, slots: string) =>
      significanceOf(create(NodeReportSchema, { cluster: { slots }, slotMove: { state } }));
    expect(moving(MoveState.RUNNING, '0-9')).toBe(moving(MoveState.RUNNING, '5-9'));
    expect(moving(MoveState.RUNNING, '5-9')).not.toBe(moving(MoveState.DONE, '5-9'));
  });

  it('is a key that people should know of', () => {
    const moving = (notableKeys: string[]) => significanceOf(create(NodeReportSchema, { slotMove: { notableKeys } }));
    expect(moving([])).not.toBe(moving(['"k" has 64 MiB']));
  });

  it('is that there are data which an older Valkey cannot hold, but not how many', () => {
    const holding = (expiringHashes: bigint) =>
      significanceOf(create(NodeReportSchema, { memory: { expiringHashes } }));
    expect(holding(0n)).not.toBe(holding(1n));
    expect(holding(1n)).toBe(holding(2n));
  });

  it('is a change of roles even then', () => {
    expect(tell({ openSlots: open })).not.toBe(tell({ openSlots: open, role: Role.REPLICA }));
  });
});
