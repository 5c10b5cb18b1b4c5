import { durationFromMs } from '@bufbuild/protobuf/wkt';
import type { NodeCommand, NodeGuard } from '@valkey-operator/core';
import { FailoverMode, GateDecision, LinkState, MoveMethod, ProcessState, Role } from '@valkey-operator/rpc';
import { describe, expect, test } from 'vitest';
import { toCommandRequest } from './node-command.ts';

const peer = { nodeId: 'n', ip: '10.0.0.2', port: 6379, busPort: 16379 };

/** Every command there is: a new one does not compile until it is here. */
const commands: { [K in NodeCommand['do']]: { command: Extract<NodeCommand, { do: K }>; payload: object } } = {
  meet: { command: { do: 'meet', peers: [peer] }, payload: { case: 'meet', value: { peers: [peer] } } },
  addSlots: {
    command: { do: 'addSlots', slots: '0-5 9' },
    payload: { case: 'addSlots', value: { slots: [range(0, 5), range(9, 9)] } },
  },
  replicate: {
    command: { do: 'replicate', primaryId: 'p' },
    payload: { case: 'replicate', value: { primaryId: 'p' } },
  },
  failover: {
    command: { do: 'failover', mode: 'takeover' },
    payload: { case: 'failover', value: { mode: FailoverMode.TAKEOVER } },
  },
  forget: { command: { do: 'forget', nodeIds: ['x'] }, payload: { case: 'forget', value: { nodeIds: ['x'] } } },
  reset: { command: { do: 'reset', hard: true }, payload: { case: 'reset', value: { hard: true } } },
  setConfig: {
    command: { do: 'setConfig', settings: { hz: '20' }, hash: 'h2' },
    payload: { case: 'setConfig', value: { values: { hz: '20' }, configHash: 'h2' } },
  },
  moveSlots: {
    command: { do: 'moveSlots', slots: '0-5', target: peer, method: 'by-key', keysAtOnce: 8000 },
    payload: {
      case: 'moveSlots',
      value: {
        slots: [range(0, 5)],
        target: peer,
        method: MoveMethod.BY_KEY,
        keysAtOnce: 8000,
        timeLimit: durationFromMs(10_000),
      },
    },
  },
  cancelMove: { command: { do: 'cancelMove' }, payload: { case: 'cancelMove', value: {} } },
  closeSlots: {
    command: { do: 'closeSlots', slots: '7' },
    payload: { case: 'closeSlots', value: { slots: [range(7, 7)] } },
  },
  searchSlots: {
    command: { do: 'searchSlots', slots: '7' },
    payload: { case: 'searchSlots', value: { slots: [range(7, 7)] } },
  },
  releaseGate: {
    command: { do: 'releaseGate', decision: 'new-node' },
    payload: { case: 'releaseGate', value: { decision: GateDecision.NEW_NODE } },
  },
};

function range(start: number, end: number) {
  return { start, end };
}

function request(command: NodeCommand, guard: Partial<NodeGuard> = {}) {
  return toCommandRequest({
    type: 'CommandNode',
    pod: 'demo-0',
    guard: { podUid: 'u', ...guard },
    command,
    reason: 'Creating',
  });
}

describe('toCommandRequest', () => {
  test.each(Object.entries(commands))(
    'puts %s in the words of the wire, with a deadline',
    (_, { command, payload }) => {
      const { payload: sent, timeoutMs } = request(command);
      expect(sent).toEqual(payload);
      expect(timeoutMs).toBeGreaterThan(0);
    },
  );

  test.each([
    ['coordinated', FailoverMode.COORDINATED],
    ['force', FailoverMode.FORCE],
    ['takeover', FailoverMode.TAKEOVER],
  ] as const)('tells a %s failover from the others', (mode, expected) => {
    expect(request({ do: 'failover', mode }).payload).toEqual({ case: 'failover', value: { mode: expected } });
  });

  test.each([
    ['keep-data', GateDecision.KEEP_DATA],
    ['discard-data', GateDecision.DISCARD_DATA],
    ['new-node', GateDecision.NEW_NODE],
  ] as const)('tells the gate decision %s from the others', (decision, expected) => {
    const { payload } = request({ do: 'releaseGate', decision });
    expect(payload).toEqual({ case: 'releaseGate', value: { decision: expected } });
  });

  test('asks for nothing but the pod when the plan was decided on nothing else', () => {
    expect(request(commands.reset.command).guard).toEqual({ podUid: 'u', slotOwners: [] });
  });

  test('passes on every fact that the plan was decided on', () => {
    const { guard } = request(commands.failover.command, {
      runId: 'r',
      nodeId: 'n',
      role: 'replica',
      primaryId: 'p',
      configEpoch: 0,
      linkUp: false,
      minReplicationOffset: 12,
      processState: 'gated',
      slotOwners: [{ slots: '0-5 7', nodeId: '' }],
    });
    expect(guard).toEqual({
      podUid: 'u',
      runId: 'r',
      nodeId: 'n',
      role: Role.REPLICA,
      primaryId: 'p',
      configEpoch: 0n,
      link: LinkState.DOWN,
      minReplicationOffset: 12n,
      processState: ProcessState.GATED,
      slotOwners: [
        { slots: range(0, 5), nodeId: '' },
        { slots: range(7, 7), nodeId: '' },
      ],
    });
  });
});
