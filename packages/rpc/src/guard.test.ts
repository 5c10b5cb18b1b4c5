import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';

import { GuardSchema } from './gen/valkey/sidecar/v1/command_pb.ts';
import { LinkState, NodeReportSchema, ProcessState, Role } from './gen/valkey/sidecar/v1/node_report_pb.ts';
import { findGuardMismatch } from './guard.ts';

const report = create(NodeReportSchema, {
  pod: { uid: 'uid-0' },
  process: { state: ProcessState.RUNNING, runId: 'run-1' },
  cluster: {
    nodeId: 'n0',
    role: Role.REPLICA,
    primaryId: 'n1',
    configEpoch: 3n,
    currentEpoch: 9n,
    nodes: [
      { id: 'n0', slots: '' },
      { id: 'n1', slots: '0-5460 5462' },
      { id: 'n2', slots: '5461' },
    ],
  },
  replication: { link: LinkState.UP, offset: 1000n },
});
const nothingKnown = create(NodeReportSchema);

type GuardInit = MessageInitShape<typeof GuardSchema>;
const check = (guard: GuardInit, against = report) => findGuardMismatch(create(GuardSchema, guard), against);

const holding: GuardInit[] = [
  { podUid: 'uid-0' },
  { processState: ProcessState.RUNNING },
  { runId: 'run-1' },
  { nodeId: 'n0' },
  { role: Role.REPLICA },
  { primaryId: 'n1' },
  { configEpoch: 3n },
  { currentEpoch: 9n },
  { link: LinkState.UP },
  { minReplicationOffset: 1000n },
  { slotOwners: [{ slots: { start: 0, end: 5460 }, nodeId: 'n1' }] },
  { slotOwners: [{ slots: { start: 5463, end: 16383 }, nodeId: '' }] },
];

describe('a guard', () => {
  it.each(holding)('of %o holds for a node of which it is true, and for none of which nothing is known', (guard) => {
    expect(check(guard)).toBeUndefined();
    expect(check(guard, nothingKnown)).toBeDefined();
  });

  it('holds with all its facts together, and empty for every node', () => {
    expect(check(Object.assign({}, ...holding))).toBeUndefined();
    expect(check({}, nothingKnown)).toBeUndefined();
  });

  it.each([{}, { slots: { start: 2, end: 1 } }, { slots: { start: 16384, end: 16384 } }])(
    'over the slots %o, which are none, does not hold',
    (range) => {
      expect(check({ slotOwners: [{ ...range, nodeId: '' }] })).toMatchObject({ fact: 'slot_owners' });
    },
  );

  it.each([
    [{ role: Role.PRIMARY }, { fact: 'role', expected: 'ROLE_PRIMARY', actual: 'ROLE_REPLICA' }],
    [{ nodeId: 'n9' }, { fact: 'node_id', expected: 'n9', actual: 'n0' }],
    [{ currentEpoch: 8n }, { fact: 'current_epoch', expected: '8', actual: '9' }],
    [{ minReplicationOffset: 1001n }, { fact: 'min_replication_offset', expected: '1001', actual: '1000' }],
    [
      { slotOwners: [{ slots: { start: 5460, end: 5462 }, nodeId: 'n1' }] },
      { fact: 'slot_owners', expected: '5461=n1', actual: '5461=n2' },
    ],
    [
      { slotOwners: [{ slots: { start: 16383, end: 16383 }, nodeId: 'n1' }] },
      { fact: 'slot_owners', expected: '16383=n1', actual: '16383=' },
    ],
  ])('of %o says what it expected and what it found', (guard, expected) => {
    expect(check(guard)).toMatchObject(expected);
  });
});
