import type { MessageInitShape } from '@bufbuild/protobuf';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import type { NodeAction, NodeCommand, NodeGuard } from '@valkey-operator/core';
import {
  FailoverMode,
  GateDecision,
  type GuardSchema,
  LinkState,
  MoveMethod,
  ProcessState,
  Role,
  type SlotRangeSchema,
} from '@valkey-operator/rpc';
import type { CommandRequest } from '@valkey-operator/rpc/operator';
import { SlotSet } from '@valkey-operator/valkey';

type Guard = MessageInitShape<typeof GuardSchema>;
type Payload = CommandRequest['payload'];
type Range = MessageInitShape<typeof SlotRangeSchema>;

/** Most commands are answered within milliseconds; these wait for something to come about. */
const TIMEOUT_MS = { meet: 15_000, replicate: 10_000, failover: 15_000, other: 5_000 };

/** An order to move slots is good for this long; then the planner looks what is left, and whether it is still wanted. */
const MOVE_MS = 10_000;

/** A decision of the planner in the words of the wire. */
export function toCommandRequest({ command, guard }: NodeAction): Omit<CommandRequest, 'id'> {
  const timeoutMs = command.do in TIMEOUT_MS ? TIMEOUT_MS[command.do as keyof typeof TIMEOUT_MS] : TIMEOUT_MS.other;
  return { timeoutMs, guard: toGuard(guard), payload: toPayload(command) };
}

function toGuard(guard: NodeGuard): Guard {
  const { podUid, runId, nodeId, role, primaryId, configEpoch, linkUp, minReplicationOffset, processState } = guard;
  return {
    podUid,
    ...(runId !== undefined && { runId }),
    ...(nodeId !== undefined && { nodeId }),
    ...(role !== undefined && { role: role === 'primary' ? Role.PRIMARY : Role.REPLICA }),
    ...(primaryId !== undefined && { primaryId }),
    ...(configEpoch !== undefined && { configEpoch: BigInt(configEpoch) }),
    ...(linkUp !== undefined && { link: linkUp ? LinkState.UP : LinkState.DOWN }),
    ...(minReplicationOffset !== undefined && { minReplicationOffset: BigInt(minReplicationOffset) }),
    ...(processState === 'gated' && { processState: ProcessState.GATED }),
    slotOwners: (guard.slotOwners ?? []).flatMap(({ slots, nodeId: owner }) =>
      toRanges(slots).map((range) => ({ slots: range, nodeId: owner })),
    ),
  };
}

function toPayload(command: NodeCommand): Payload {
  switch (command.do) {
    case 'meet':
      return { case: 'meet', value: { peers: command.peers.map((peer) => ({ ...peer })) } };
    case 'addSlots':
      return { case: 'addSlots', value: { slots: toRanges(command.slots) } };
    case 'replicate':
      return { case: 'replicate', value: { primaryId: command.primaryId } };
    case 'failover':
      return { case: 'failover', value: { mode: FAILOVER_MODES[command.mode] } };
    case 'forget':
      return { case: 'forget', value: { nodeIds: [...command.nodeIds] } };
    case 'reset':
      return { case: 'reset', value: { hard: command.hard } };
    case 'setConfig':
      return { case: 'setConfig', value: { values: { ...command.settings }, configHash: command.hash } };
    case 'moveSlots':
      return {
        case: 'moveSlots',
        value: {
          slots: toRanges(command.slots),
          target: { ...command.target },
          method: command.method === 'atomic' ? MoveMethod.ATOMIC : MoveMethod.BY_KEY,
          keysAtOnce: command.keysAtOnce,
          timeLimit: durationFromMs(MOVE_MS),
        },
      };
    case 'cancelMove':
      return { case: 'cancelMove', value: {} };
    case 'closeSlots':
      return { case: 'closeSlots', value: { slots: toRanges(command.slots) } };
    case 'searchSlots':
      return { case: 'searchSlots', value: { slots: toRanges(command.slots) } };
    case 'releaseGate':
      return { case: 'releaseGate', value: { decision: GATE_DECISIONS[command.decision] } };
  }
}

function toRanges(slots: string): Range[] {
  return SlotSet.parse(slots).ranges.map(([start, end]) => ({ start, end }));
}

const FAILOVER_MODES = {
  coordinated: FailoverMode.COORDINATED,
  force: FailoverMode.FORCE,
  takeover: FailoverMode.TAKEOVER,
} as const;

const GATE_DECISIONS = {
  'keep-data': GateDecision.KEEP_DATA,
  'discard-data': GateDecision.DISCARD_DATA,
  'new-node': GateDecision.NEW_NODE,
} as const;
