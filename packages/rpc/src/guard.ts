import { create, type DescEnum } from '@bufbuild/protobuf';

import {
  GuardMismatchSchema,
  type Guard,
  type GuardMismatch,
  type SlotOwner,
} from './gen/valkey/sidecar/v1/command_pb.ts';
import {
  LinkStateSchema,
  ProcessStateSchema,
  RoleSchema,
  type KnownNode,
  type NodeReport,
} from './gen/valkey/sidecar/v1/node_report_pb.ts';

const LAST_SLOT = 16_383;

type Value = string | bigint | undefined;

/** The facts that must be equal, and where a report tells them. */
const FACTS: ReadonlyArray<
  readonly [name: string, expected: (guard: Guard) => Value, actual: (report: NodeReport) => Value]
> = [
  ['pod_uid', ({ podUid }) => podUid, ({ pod }) => pod?.uid],
  [
    'process_state',
    (guard) => nameOf(ProcessStateSchema, guard.processState),
    (report) => nameOf(ProcessStateSchema, report.process?.state),
  ],
  ['run_id', ({ runId }) => runId, ({ process }) => process?.runId],
  ['node_id', ({ nodeId }) => nodeId, ({ cluster }) => cluster?.nodeId],
  ['role', ({ role }) => nameOf(RoleSchema, role), ({ cluster }) => nameOf(RoleSchema, cluster?.role)],
  ['primary_id', ({ primaryId }) => primaryId, ({ cluster }) => cluster?.primaryId],
  ['config_epoch', ({ configEpoch }) => configEpoch, ({ cluster }) => cluster?.configEpoch],
  ['current_epoch', ({ currentEpoch }) => currentEpoch, ({ cluster }) => cluster?.currentEpoch],
  [
    'link',
    ({ link }) => nameOf(LinkStateSchema, link),
    ({ replication }) => nameOf(LinkStateSchema, replication?.link),
  ],
];

/**
 * The first fact of a guard that a report, taken this moment, does not bear out. What the report does not tell is not borne
 * out: a node that cannot be asked gets no orders about itself.
 */
export function findGuardMismatch(guard: Guard, report: NodeReport): GuardMismatch | undefined {
  for (const [fact, readExpected, readActual] of FACTS) {
    const [expected, actual] = [readExpected(guard), readActual(report)];
    if (expected !== undefined && expected !== actual) return mismatch(fact, expected, actual);
  }
  return (
    findLag(guard.minReplicationOffset, report.replication?.offset) ??
    findForeignSlot(guard.slotOwners, report.cluster?.nodes)
  );
}

function findLag(least: bigint | undefined, offset: bigint | undefined): GuardMismatch | undefined {
  if (least === undefined || (offset !== undefined && offset >= least)) return undefined;
  return mismatch('min_replication_offset', least, offset);
}

function findForeignSlot(
  expected: readonly SlotOwner[],
  nodes: readonly KnownNode[] | undefined,
): GuardMismatch | undefined {
  if (expected.length === 0) return undefined;
  if (!nodes) return mismatch('slot_owners', 'known', undefined);
  const owners = readOwners(nodes);
  for (const { slots, nodeId } of expected) {
    // A range without a slot would hold for every node.
    if (!slots || slots.start > slots.end || slots.end > LAST_SLOT)
      return mismatch('slot_owners', 'a range', undefined);
    for (let slot = slots.start; slot <= slots.end; slot++) {
      const owner = owners.get(slot) ?? '';
      if (owner !== nodeId) return mismatch('slot_owners', `${slot}=${nodeId}`, `${slot}=${owner}`);
    }
  }
  return undefined;
}

/** Slots are written as CLUSTER NODES does: "0-5460 5462". */
function readOwners(nodes: readonly KnownNode[]): Map<number, string> {
  const owners = new Map<number, string>();
  for (const { id, slots } of nodes) {
    for (const range of slots.split(' ').filter(Boolean)) {
      const [start = NaN, end = start] = range.split('-').map(Number);
      for (let slot = start; slot <= end; slot++) owners.set(slot, id);
    }
  }
  return owners;
}

function nameOf(desc: DescEnum, value: number | undefined): string | undefined {
  return value === undefined ? undefined : (desc.value[value]?.name ?? String(value));
}

function mismatch(fact: string, expected: Value, actual: Value): GuardMismatch {
  return create(GuardMismatchSchema, {
    fact,
    expected: String(expected),
    actual: String(actual ?? ''),
  });
}
